/* Cases that LevelDB leaves undefined and Terrace answers, and the functions of terrace.h. Prints what it did; ends with a
   failure at the first unexpected result.

   usage: beyond directory */

#include "beyond.h"

void check_error(const char* file, int line, char** error, const char* beginning) {
  int right = beginning == NULL ? *error == NULL
                                : *error != NULL && strncmp(*error, beginning, strlen(beginning)) == 0;
  if (!right) {
    fprintf(stderr, "%s:%d: the error is %s, and should be %s\n", file, line, *error == NULL ? "none" : *error,
            beginning == NULL ? "none" : beginning);
    exit(1);
  }
  leveldb_free(*error);
  *error = NULL;
}

setup_t set_up(void) {
  setup_t setup = {leveldb_options_create(), leveldb_readoptions_create(), leveldb_writeoptions_create()};
  leveldb_options_set_create_if_missing(setup.options, 1);
  return setup;
}

void tear_down(setup_t setup) {
  leveldb_options_destroy(setup.options);
  leveldb_readoptions_destroy(setup.reading);
  leveldb_writeoptions_destroy(setup.writing);
}

leveldb_t* must_open(setup_t setup, const char* directory) {
  char* error = NULL;
  leveldb_t* db = leveldb_open(setup.options, directory, &error);
  WORKS(error);
  CHECK(db != NULL);
  return db;
}

void must_put(leveldb_t* db, setup_t setup, const char* key, const char* value) {
  char* error = NULL;
  leveldb_put(db, setup.writing, key, strlen(key), value, strlen(value), &error);
  WORKS(error);
}

int has(leveldb_t* db, setup_t setup, const char* key, const char* value) {
  char* error = NULL;
  size_t length = 0;
  char* found = leveldb_get(db, setup.reading, key, strlen(key), &length, &error);
  WORKS(error);
  int same = value == NULL ? found == NULL
                           : found != NULL && length == strlen(value) && memcmp(found, value, length) == 0;
  leveldb_free(found);
  return same;
}

int main(int count, char** arguments) {
  static const struct {
    const char* name;
    void (*run)(const char* directory);
  } PARTS[] = {
      {"lifetimes", lifetimes},     {"callback lifetimes", callback_lifetimes},
      {"pointers", missing_pointers}, {"options", bad_options},
      {"names", names_that_are_no_text},
      {"batches", odd_batches},     {"no order", no_order},
      {"bad filters", bad_filters}, {"threads", many_threads},
      {"terrace", terrace_functions}, {"mappings", mappings},
  };
  if (count != 2) {
    fprintf(stderr, "usage: beyond directory\n");
    return 2;
  }
  for (size_t index = 0; index < sizeof PARTS / sizeof PARTS[0]; index++) {
    char directory[512];
    snprintf(directory, sizeof directory, "%s/%zu", arguments[1], index);
    printf("%s\n", PARTS[index].name);
    fflush(stdout);
    PARTS[index].run(directory);
  }
  printf("all done\n");
  return 0;
}
