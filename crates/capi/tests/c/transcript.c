/* Calls every function of the interface and writes the results. The transcripts of two implementations must be identical,
   byte for byte.

   usage: transcript directory

   The directory must exist; each part works in one of its own within it. */

#include "transcript.h"

typedef struct {
  const char* name;
  void (*run)(const char* directory);
} part_t;

static const part_t PARTS[] = {
    {"basics", basics},         {"batches", batches},         {"iterators", iterators}, {"snapshots", snapshots},
    {"settings", settings},     {"caches", caches},           {"filters", filters},     {"comparators", comparators},
    {"properties", properties}, {"sizes", sizes},             {"opening", opening},     {"maintenance", maintenance},
    {"walks", walks},
};

int main(int count, char** arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: transcript directory\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("version %d.%d\n", leveldb_major_version(), leveldb_minor_version());
  leveldb_free(NULL);
  environment();
  for (size_t index = 0; index < sizeof PARTS / sizeof PARTS[0]; index++) {
    char directory[512];
    snprintf(directory, sizeof directory, "%s/%s", arguments[1], PARTS[index].name);
    printf("== %s\n", PARTS[index].name);
    PARTS[index].run(directory);
    setup_t setup = set_up();
    char* error = NULL;
    leveldb_destroy_db(setup.options, directory, &error);
    say_outcome("destroyed", &error);
    tear_down(setup);
  }
  return 0;
}
