/* Shared by the parts of the transcript; see transcript.h. */

#include "transcript.h"

setup_t set_up(void) {
  setup_t setup;
  setup.options = leveldb_options_create();
  leveldb_options_set_create_if_missing(setup.options, 1);
  setup.reading = leveldb_readoptions_create();
  setup.writing = leveldb_writeoptions_create();
  return setup;
}

void tear_down(setup_t setup) {
  leveldb_options_destroy(setup.options);
  leveldb_readoptions_destroy(setup.reading);
  leveldb_writeoptions_destroy(setup.writing);
}

static void exit_on(const char* what, const char* error) {
  if (error != NULL) {
    fflush(stdout);
    fprintf(stderr, "%s failed: %s\n", what, error);
    exit(1);
  }
}

leveldb_t* open_or_exit(setup_t setup, const char* directory) {
  char* error = NULL;
  leveldb_t* db = leveldb_open(setup.options, directory, &error);
  exit_on("open", error);
  return db;
}

void say_outcome(const char* what, char** error) {
  if (*error == NULL) {
    printf("%s: ok\n", what);
    return;
  }
  const char* end = strstr(*error, ": ");
  int length = end == NULL ? (int)strlen(*error) : (int)(end - *error);
  printf("%s: error, %.*s\n", what, length, *error);
  leveldb_free(*error);
  *error = NULL;
}

void say_message(const char* what, char** error, const char* directory) {
  if (*error == NULL) {
    printf("%s: ok\n", what);
    return;
  }
  const char* place = strstr(*error, directory);
  if (place == NULL) {
    printf("%s: error, %s\n", what, *error);
  } else {
    printf("%s: error, %.*s(directory)%s\n", what, (int)(place - *error), *error, place + strlen(directory));
  }
  leveldb_free(*error);
  *error = NULL;
}

static uint32_t checksum(const char* bytes, size_t length) {
  uint32_t sum = 2166136261u;
  for (size_t index = 0; index < length; index++) {
    sum = (sum ^ (uint8_t)bytes[index]) * 16777619u;
  }
  return sum;
}

void say_bytes(const char* bytes, size_t length) {
  if (length > 40) {
    printf("(%zu bytes, %08" PRIx32 ")", length, checksum(bytes, length));
    return;
  }
  putchar('"');
  for (size_t index = 0; index < length; index++) {
    uint8_t byte = (uint8_t)bytes[index];
    if (byte >= ' ' && byte <= '~' && byte != '\\' && byte != '"') {
      putchar(byte);
    } else {
      printf("\\x%02x", byte);
    }
  }
  putchar('"');
}

void say_get(leveldb_t* db, setup_t setup, const char* key, size_t length) {
  char* error = NULL;
  size_t value_length = 12345;
  char* value = leveldb_get(db, setup.reading, key, length, &value_length, &error);
  say_bytes(key, length);
  if (error != NULL) {
    say_outcome(" get", &error);
  } else if (value == NULL) {
    printf(" is not there, length %zu\n", value_length);
  } else {
    printf(" = ");
    say_bytes(value, value_length);
    printf("\n");
  }
  leveldb_free(value);
}

void put(leveldb_t* db, setup_t setup, const char* key, const char* value) {
  char* error = NULL;
  leveldb_put(db, setup.writing, key, strlen(key), value, strlen(value), &error);
  exit_on("put", error);
}

void erase(leveldb_t* db, setup_t setup, const char* key) {
  char* error = NULL;
  leveldb_delete(db, setup.writing, key, strlen(key), &error);
  exit_on("delete", error);
}

void say_entry(leveldb_iterator_t* iterator) {
  if (!leveldb_iter_valid(iterator)) {
    printf("  on no entry\n");
    return;
  }
  size_t key_length, value_length;
  const char* key = leveldb_iter_key(iterator, &key_length);
  const char* value = leveldb_iter_value(iterator, &value_length);
  printf("  ");
  say_bytes(key, key_length);
  printf(" = ");
  say_bytes(value, value_length);
  printf("\n");
}

void make_value(int index, char* value, size_t length) {
  uint64_t state = (uint64_t)index * 0x9e3779b97f4a7c15u + 1;
  for (size_t place = 0; place < length; place++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value[place] = (char)(state >> 56);
  }
}

void fill(leveldb_t* db, setup_t setup, int count, size_t value_length) {
  char* error = NULL;
  char* value = malloc(value_length);
  for (int index = 0; index < count; index++) {
    char key[16];
    snprintf(key, sizeof key, "k%06d", index);
    make_value(index, value, value_length);
    leveldb_put(db, setup.writing, key, strlen(key), value, value_length, &error);
    exit_on("put", error);
  }
  free(value);
}

void say_filled(leveldb_t* db, setup_t setup, int count, size_t value_length) {
  char* error = NULL;
  char* expected = malloc(value_length);
  char key[16];
  int forward = 0, backward = 0, wrong = 0, found = 0, absent = 0;
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, setup.reading);
  for (leveldb_iter_seek_to_first(iterator); leveldb_iter_valid(iterator); leveldb_iter_next(iterator)) {
    size_t key_length, length;
    const char* here = leveldb_iter_key(iterator, &key_length);
    const char* value = leveldb_iter_value(iterator, &length);
    snprintf(key, sizeof key, "k%06d", forward);
    make_value(forward, expected, value_length);
    wrong += key_length != strlen(key) || memcmp(here, key, key_length) != 0;
    wrong += length != value_length || memcmp(value, expected, length) != 0;
    forward++;
  }
  for (leveldb_iter_seek_to_last(iterator); leveldb_iter_valid(iterator); leveldb_iter_prev(iterator)) {
    backward++;
  }
  leveldb_iter_get_error(iterator, &error);
  leveldb_iter_destroy(iterator);
  for (int index = 0; index < count; index++) {
    size_t length;
    snprintf(key, sizeof key, "k%06d", index);
    char* value = leveldb_get(db, setup.reading, key, strlen(key), &length, &error);
    make_value(index, expected, value_length);
    found += value != NULL && length == value_length && memcmp(value, expected, length) == 0;
    leveldb_free(value);
    snprintf(key, sizeof key, "k%06dx", index);
    value = leveldb_get(db, setup.reading, key, strlen(key), &length, &error);
    absent += value == NULL;
    leveldb_free(value);
  }
  free(expected);
  printf("  %d forward, %d backward, %d wrong, %d found, %d absent", forward, backward, wrong, found, absent);
  say_outcome("", &error);
}
