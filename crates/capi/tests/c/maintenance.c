/* Part of the transcript: properties, sizes, compaction, opening, destroying, repairing. See transcript.h. */

#include "transcript.h"

static int is_number(const char* text) {
  return *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

static int tables(leveldb_t* db) {
  int count = 0;
  for (int level = 0; level < 7; level++) {
    char name[64];
    snprintf(name, sizeof name, "leveldb.num-files-at-level%d", level);
    char* value = leveldb_property_value(db, name);
    if (value == NULL || !is_number(value)) printf("%s is no number\n", name);
    count += value == NULL ? 0 : atoi(value);
    leveldb_free(value);
  }
  return count;
}

void properties(const char* directory) {
  setup_t setup = set_up();
  leveldb_t* db = open_or_exit(setup, directory);
  printf("tables of a new database: %d\n", tables(db));
  fill(db, setup, 1000, 1000);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  printf("there are tables: %d\n", tables(db) > 0);
  const char* unknown[] = {"nosuchprop", "", "leveldb.", "leveldb.nosuch", "leveldb.num-files-at-level7",
                           "leveldb.num-files-at-level", "leveldb.num-files-at-levelx", "stats"};
  for (size_t index = 0; index < sizeof unknown / sizeof unknown[0]; index++) {
    char* value = leveldb_property_value(db, unknown[index]);
    printf("\"%s\": %s\n", unknown[index], value == NULL ? "unknown" : value);
    leveldb_free(value);
  }
  char* value = leveldb_property_value(db, "leveldb.stats");
  char* end_of_head = strstr(value, "--\n");
  printf("%.*s\n", end_of_head == NULL ? 0 : (int)(end_of_head - value), value);
  leveldb_free(value);
  value = leveldb_property_value(db, "leveldb.sstables");
  printf("tables are listed: %d\n", strstr(value, "--- level 0 ---\n") == value && strstr(value, "k000000") != NULL);
  leveldb_free(value);
  value = leveldb_property_value(db, "leveldb.approximate-memory-usage");
  printf("memory is a number: %d\n", is_number(value));
  leveldb_free(value);
  leveldb_close(db);
  tear_down(setup);
}

static void say_share(uint64_t size, uint64_t expected) {
  if (expected == 0) {
    printf("%s\n", size < 20000 ? "next to nothing" : "something");
  } else {
    printf("%s\n", size * 10 >= expected * 9 && size * 10 <= expected * 12 ? "about as expected" : "other than expected");
  }
}

static void say_sizes(leveldb_t* db, int entries) {
  const char* starts[] = {"", "k000000", "k000500", "k001000", "z", "k000500"};
  const char* limits[] = {"zz", "k000500", "k001000", "k002000", "zz", "k000000"};
  uint64_t sizes[6];
  size_t start_lengths[6], limit_lengths[6];
  for (int index = 0; index < 6; index++) {
    start_lengths[index] = strlen(starts[index]);
    limit_lengths[index] = strlen(limits[index]);
    sizes[index] = 12345;
  }
  leveldb_approximate_sizes(db, 6, starts, start_lengths, limits, limit_lengths, sizes);
  uint64_t all = (uint64_t)entries * 1000;
  uint64_t expected[] = {all, all / 4, all / 4, all / 2, 0, 0};
  for (int index = 0; index < 6; index++) {
    printf("\"%s\" to \"%s\": ", starts[index], limits[index]);
    say_share(sizes[index], expected[index]);
  }
  leveldb_approximate_sizes(db, 0, starts, start_lengths, limits, limit_lengths, sizes);
}

void sizes(const char* directory) {
  setup_t setup = set_up();
  leveldb_options_set_compression(setup.options, leveldb_no_compression);
  leveldb_t* db = open_or_exit(setup, directory);
  say_sizes(db, 0);
  fill(db, setup, 2000, 1000);
  printf("filled\n");
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  say_sizes(db, 2000);
  printf("half of it deleted\n");
  for (int index = 0; index < 1000; index++) {
    char key[16];
    snprintf(key, sizeof key, "k%06d", index);
    erase(db, setup, key);
  }
  leveldb_compact_range(db, "k000000", 7, "k001000", 7);
  leveldb_compact_range(db, NULL, 0, "k001000", 7);
  leveldb_compact_range(db, "k000000", 7, NULL, 0);
  leveldb_compact_range(db, "x", 1, "a", 1);
  const char* start = "k000000";
  const char* limit = "k001000";
  size_t length = 7;
  uint64_t size;
  leveldb_approximate_sizes(db, 1, &start, &length, &limit, &length, &size);
  say_share(size, 0);
  start = limit;
  limit = "k002000";
  leveldb_approximate_sizes(db, 1, &start, &length, &limit, &length, &size);
  say_share(size, 1000000);
  leveldb_close(db);
  tear_down(setup);
}

void opening(const char* directory) {
  char* error = NULL;
  setup_t setup = set_up();
  leveldb_options_set_create_if_missing(setup.options, 0);
  leveldb_t* db = leveldb_open(setup.options, directory, &error);
  printf("NULL: %d\n", db == NULL);
  say_message("open what is not there", &error, directory);
  error = strdup("an older message, which is freed");
  db = leveldb_open(setup.options, directory, &error);
  say_message("again", &error, directory);
  leveldb_options_set_create_if_missing(setup.options, 1);
  leveldb_options_set_error_if_exists(setup.options, 1);
  db = leveldb_open(setup.options, directory, &error);
  say_message("create", &error, directory);
  put(db, setup, "a", "1");

  leveldb_options_set_error_if_exists(setup.options, 0);
  leveldb_t* second = leveldb_open(setup.options, directory, &error);
  printf("NULL: %d, \"already held by process\": %d\n", second == NULL,
         error != NULL && strstr(error, "/LOCK: already held by process") != NULL);
  say_outcome("open it twice", &error);
  leveldb_destroy_db(setup.options, directory, &error);
  say_outcome("destroy it while it is open", &error);
  say_get(db, setup, "a", 1);
  leveldb_close(db);

  leveldb_options_set_error_if_exists(setup.options, 1);
  db = leveldb_open(setup.options, directory, &error);
  printf("NULL: %d\n", db == NULL);
  say_message("create it again", &error, directory);
  leveldb_options_set_error_if_exists(setup.options, 0);
  leveldb_options_set_create_if_missing(setup.options, 0);
  db = leveldb_open(setup.options, directory, &error);
  say_message("open it again", &error, directory);
  say_get(db, setup, "a", 1);
  leveldb_close(db);
  tear_down(setup);
}

void maintenance(const char* directory) {
  char* error = NULL;
  char path[600];
  setup_t setup = set_up();
  leveldb_destroy_db(setup.options, directory, &error);
  say_outcome("destroy what is not there", &error);

  leveldb_t* db = open_or_exit(setup, directory);
  fill(db, setup, 500, 100);
  leveldb_close(db);
  leveldb_repair_db(setup.options, directory, &error);
  say_outcome("repair what is sound", &error);
  db = open_or_exit(setup, directory);
  say_filled(db, setup, 500, 100);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  leveldb_close(db);

  snprintf(path, sizeof path, "%s/CURRENT", directory);
  printf("CURRENT removed: %d\n", remove(path) == 0);
  leveldb_repair_db(setup.options, directory, &error);
  say_outcome("repair", &error);
  db = open_or_exit(setup, directory);
  say_filled(db, setup, 500, 100);
  leveldb_close(db);

  leveldb_destroy_db(setup.options, directory, &error);
  say_outcome("destroy", &error);
  db = open_or_exit(setup, directory);
  say_get(db, setup, "k000001", 7);
  leveldb_close(db);
  tear_down(setup);
}
