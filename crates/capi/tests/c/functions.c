/* Part of `beyond`: many threads, and the functions of terrace.h. See beyond.h. */

#include <pthread.h>

#include "beyond.h"

enum { THREADS = 4, ROUNDS = 2000 };

typedef struct {
  leveldb_t* db;
  setup_t setup;
  int number;
} worker_t;

static void* work(void* argument) {
  worker_t* worker = argument;
  char key[32], value[32];
  for (int round = 0; round < ROUNDS; round++) {
    snprintf(key, sizeof key, "%d:%d", worker->number, round % 100);
    snprintf(value, sizeof value, "%d", round);
    must_put(worker->db, worker->setup, key, value);
    CHECK(has(worker->db, worker->setup, key, value));
    if (round % 100 == 0) {
      const leveldb_snapshot_t* snapshot = leveldb_create_snapshot(worker->db);
      leveldb_iterator_t* iterator = leveldb_create_iterator(worker->db, worker->setup.reading);
      leveldb_iter_seek(iterator, key, strlen(key));
      CHECK(leveldb_iter_valid(iterator));
      leveldb_iter_destroy(iterator);
      leveldb_release_snapshot(worker->db, snapshot);
    }
  }
  return NULL;
}

enum { LEFT = 300 };

/* The work that a program leaves to a finalizer thread. */
typedef struct {
  leveldb_t* db;
  leveldb_iterator_t* iterators[LEFT];
  const leveldb_snapshot_t* snapshots[LEFT];
} left_t;

static void* finalize(void* argument) {
  left_t* left = argument;
  for (int index = 0; index < LEFT; index++) {
    leveldb_iter_destroy(left->iterators[index]);
    leveldb_release_snapshot(left->db, left->snapshots[index]);
  }
  return NULL;
}

/* Iterators and snapshots are destroyed by one thread while another closes their database. */
static void finalize_while_closing(leveldb_t* db, setup_t setup) {
  pthread_t thread;
  left_t left = {db, {NULL}, {NULL}};
  for (int index = 0; index < LEFT; index++) {
    left.iterators[index] = leveldb_create_iterator(db, setup.reading);
    leveldb_iter_seek_to_first(left.iterators[index]);
    CHECK(leveldb_iter_valid(left.iterators[index]));
    left.snapshots[index] = leveldb_create_snapshot(db);
    must_put(db, setup, "0:0", "newer");
  }
  CHECK(pthread_create(&thread, NULL, finalize, &left) == 0);
  leveldb_close(db);
  CHECK(pthread_join(thread, NULL) == 0);
}

void many_threads(const char* directory) {
  pthread_t threads[THREADS];
  worker_t workers[THREADS];
  setup_t setup = set_up();
  leveldb_options_set_write_buffer_size(setup.options, 64 << 10);
  leveldb_t* db = must_open(setup, directory);
  for (int index = 0; index < THREADS; index++) {
    workers[index] = (worker_t){db, setup, index};
    CHECK(pthread_create(&threads[index], NULL, work, &workers[index]) == 0);
  }
  for (int index = 0; index < THREADS; index++) {
    CHECK(pthread_join(threads[index], NULL) == 0);
  }
  finalize_while_closing(db, setup);
  tear_down(setup);
}

static uint64_t tables(const terrace_statistics_t* statistics) {
  uint64_t count = 0;
  for (int level = 0; level < terrace_level_count; level++) count += statistics->levels[level].files;
  return count;
}

void terrace_functions(const char* directory) {
  char copy[600];
  char* error = NULL;
  setup_t setup = set_up();
  CHECK(strchr(terrace_version(), '.') != NULL);
  CHECK(terrace_open_read_only(setup.options, directory, &error) == NULL);
  FAILS(error, "Invalid argument: ");

  leveldb_options_set_compression(setup.options, terrace_zstd_compression);
  leveldb_t* db = must_open(setup, directory);
  must_put(db, setup, "apple", "red");
  terrace_statistics_t statistics;
  terrace_statistics(db, &statistics, sizeof statistics);
  CHECK(tables(&statistics) == 0 && statistics.last_sequence == 1 && statistics.memtable_bytes > 0);
  CHECK(terrace_left_out(db) == NULL);
  terrace_flush(db, &error);
  WORKS(error);
  terrace_statistics(db, &statistics, sizeof statistics);
  CHECK(tables(&statistics) == 1 && statistics.sealed_memtables == 0);
  must_put(db, setup, "plum", "blue");

  /* Programs with an older and a newer header. */
  struct {
    terrace_statistics_t known;
    uint64_t added;
  } newer;
  memset(&newer, 0xff, sizeof newer);
  terrace_statistics(db, &newer.known, sizeof newer);
  CHECK(newer.known.last_sequence == 2 && newer.added == 0);
  memset(&statistics, 0xff, sizeof statistics);
  terrace_statistics(db, &statistics, sizeof statistics - sizeof(uint64_t));
  CHECK(tables(&statistics) == 1 && statistics.last_sequence == UINT64_MAX);

  leveldb_t* reader = terrace_open_read_only(setup.options, directory, &error);
  WORKS(error);
  CHECK(has(reader, setup, "apple", "red") && has(reader, setup, "plum", "blue"));
  leveldb_put(reader, setup.writing, "k", 1, "v", 1, &error);
  FAILS(error, "IO error: ");
  leveldb_compact_range(reader, NULL, 0, NULL, 0);
  must_put(db, setup, "plum", "green");
  CHECK(has(reader, setup, "plum", "blue"));
  terrace_refresh(reader, &error);
  WORKS(error);
  CHECK(has(reader, setup, "plum", "green"));
  terrace_refresh(db, &error);
  WORKS(error);

  snprintf(copy, sizeof copy, "%s-copy", directory);
  terrace_checkpoint(db, copy, &error);
  WORKS(error);
  terrace_checkpoint(db, copy, &error);
  FAILS(error, "");
  must_put(db, setup, "plum", "yellow");
  terrace_verify(db, &error);
  WORKS(error);
  terrace_close(reader, &error);
  WORKS(error);
  terrace_close(db, &error);
  WORKS(error);
  db = must_open(setup, copy);
  CHECK(has(db, setup, "apple", "red") && has(db, setup, "plum", "green"));
  leveldb_close(db);
  tear_down(setup);
}

/* The number of files of a directory, with names ending like this, that this process has mapped. */
static int mapped(const char* directory, const char* ending) {
  char line[1024], place[600];
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  snprintf(place, sizeof place, "%s/", directory);
  while (fgets(line, sizeof line, maps) != NULL) {
    line[strcspn(line, "\n")] = 0;
    size_t length = strlen(line);
    count += strstr(line, place) != NULL && length > strlen(ending) && strcmp(line + length - strlen(ending), ending) == 0;
  }
  fclose(maps);
  return count;
}

void mappings(const char* directory) {
#ifdef __linux__
  char* error = NULL;
  setup_t setup = set_up();
  for (unsigned char map_tables = 0; map_tables < 2; map_tables++) {
    terrace_options_set_map_tables(setup.options, map_tables);
    terrace_options_set_map_log(setup.options, 0);
    leveldb_t* db = must_open(setup, directory);
    must_put(db, setup, "apple", "red");
    CHECK(mapped(directory, ".log") == 0);
    terrace_flush(db, &error);
    WORKS(error);
    CHECK(has(db, setup, "apple", "red"));
    CHECK((mapped(directory, ".ldb") > 0) == map_tables);
    leveldb_close(db);
    leveldb_destroy_db(setup.options, directory, &error);
    WORKS(error);
  }
  terrace_options_set_map_log(setup.options, 1);
  leveldb_t* db = must_open(setup, directory);
  must_put(db, setup, "apple", "red");
  if (mapped(directory, ".log") == 0) printf("  on this file system, logs are not mapped\n");
  leveldb_close(db);
  tear_down(setup);
#else
  printf("  skipped: what is mapped is known on Linux only, not for %s\n", directory);
#endif
}
