/* Part of `beyond`: closed, destroyed, missing and wrong objects. See beyond.h. */

#include "beyond.h"

/* Everything fails and nothing is hurt while an iterator keeps the closed database's object. */
static void use_closed(leveldb_t* db, setup_t setup) {
  char* error = NULL;
  size_t length = 99;
  leveldb_put(db, setup.writing, "k", 1, "v", 1, &error);
  FAILS(error, "IO error: ");
  leveldb_delete(db, setup.writing, "k", 1, &error);
  FAILS(error, "IO error: ");
  CHECK(leveldb_get(db, setup.reading, "k", 1, &length, &error) == NULL && length == 0);
  FAILS(error, "IO error: ");
  leveldb_writebatch_t* batch = leveldb_writebatch_create();
  leveldb_writebatch_put(batch, "k", 1, "v", 1);
  leveldb_write(db, setup.writing, batch, &error);
  FAILS(error, "IO error: ");
  leveldb_writebatch_destroy(batch);
  CHECK(leveldb_property_value(db, "leveldb.stats") == NULL);
  const char *start = "a", *limit = "z";
  size_t one = 1;
  uint64_t size = 99;
  leveldb_approximate_sizes(db, 1, &start, &one, &limit, &one, &size);
  CHECK(size == 0);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, setup.reading);
  leveldb_iter_seek_to_first(iterator);
  CHECK(!leveldb_iter_valid(iterator));
  leveldb_iter_get_error(iterator, &error);
  FAILS(error, "IO error: ");
  leveldb_iter_destroy(iterator);
  leveldb_release_snapshot(db, leveldb_create_snapshot(db));
  terrace_verify(db, &error);
  FAILS(error, "IO error: ");
  leveldb_close(db);
  terrace_close(db, &error);
  WORKS(error);
}

void lifetimes(const char* directory) {
  char* error = NULL;
  size_t length;
  setup_t setup = set_up();
  leveldb_t* db = must_open(setup, directory);
  must_put(db, setup, "apple", "red");
  must_put(db, setup, "plum", "blue");
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  must_put(db, setup, "fig", "green");
  const leveldb_snapshot_t* snapshot = leveldb_create_snapshot(db);
  leveldb_iterator_t* first = leveldb_create_iterator(db, setup.reading);
  leveldb_iterator_t* second = leveldb_create_iterator(db, setup.reading);
  leveldb_iter_seek_to_first(first);
  const char* key = leveldb_iter_key(first, &length);
  leveldb_close(db);

  CHECK(length == 5 && memcmp(key, "apple", 5) == 0);
  CHECK(!leveldb_iter_valid(first) && !leveldb_iter_valid(second));
  leveldb_iter_seek_to_first(second);
  leveldb_iter_seek_to_last(second);
  leveldb_iter_seek(second, "fig", 3);
  leveldb_iter_next(first);
  leveldb_iter_prev(first);
  CHECK(!leveldb_iter_valid(first) && !leveldb_iter_valid(second));
  CHECK(leveldb_iter_key(first, &length) == NULL && length == 0);
  CHECK(leveldb_iter_value(second, &length) == NULL && length == 0);
  leveldb_iter_get_error(first, &error);
  FAILS(error, "IO error: the database is closed");
  use_closed(db, setup);

  /* The directory now belongs to another database, with files of the same names. */
  leveldb_destroy_db(setup.options, directory, &error);
  WORKS(error);
  leveldb_t* next = must_open(setup, directory);
  must_put(next, setup, "apple", "yellow");
  leveldb_compact_range(next, NULL, 0, NULL, 0);
  leveldb_iter_destroy(first);
  leveldb_release_snapshot(db, snapshot);
  leveldb_iter_destroy(second);
  CHECK(has(next, setup, "apple", "yellow") && has(next, setup, "plum", NULL));
  terrace_verify(next, &error);
  WORKS(error);

  /* A snapshot belongs to one database. */
  char other_directory[600];
  snprintf(other_directory, sizeof other_directory, "%s-other", directory);
  leveldb_t* other = must_open(setup, other_directory);
  snapshot = leveldb_create_snapshot(other);
  leveldb_readoptions_set_snapshot(setup.reading, snapshot);
  CHECK(leveldb_get(next, setup.reading, "apple", 5, &length, &error) == NULL);
  FAILS(error, "Invalid argument: ");
  first = leveldb_create_iterator(next, setup.reading);
  CHECK(!leveldb_iter_valid(first));
  leveldb_iter_get_error(first, &error);
  FAILS(error, "Invalid argument: ");
  leveldb_iter_destroy(first);
  leveldb_readoptions_set_snapshot(setup.reading, NULL);
  leveldb_close(other);
  leveldb_release_snapshot(other, snapshot);

  /* Steps from no entry do nothing. */
  first = leveldb_create_iterator(next, setup.reading);
  leveldb_iter_next(first);
  leveldb_iter_prev(first);
  CHECK(!leveldb_iter_valid(first) && leveldb_iter_key(first, &length) == NULL && length == 0);
  leveldb_iter_seek_to_first(first);
  CHECK(leveldb_iter_valid(first));
  leveldb_iter_destroy(first);
  leveldb_close(next);
  tear_down(setup);
}

typedef struct {
  int ended;
} state_t;

static void end_state(void* state) {
  ((state_t*)state)->ended++;
}

static int compare(void* state, const char* a, size_t a_length, const char* b, size_t b_length) {
  CHECK(((state_t*)state)->ended == 0);
  int order = memcmp(b, a, a_length < b_length ? a_length : b_length);
  return order != 0 ? order : (a_length < b_length) - (a_length > b_length);
}

static const char* name(void* state) {
  (void)state;
  return "test.reversed";
}

void callback_lifetimes(const char* directory) {
  char* error = NULL;
  state_t state = {0};
  setup_t setup = set_up();
  leveldb_comparator_t* comparator = leveldb_comparator_create(&state, end_state, compare, name);
  leveldb_options_set_comparator(setup.options, comparator);
  leveldb_t* db = must_open(setup, directory);
  must_put(db, setup, "a", "1");
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, setup.reading);
  leveldb_iter_seek_to_first(iterator);
  leveldb_comparator_destroy(comparator);
  CHECK(state.ended == 0);
  must_put(db, setup, "b", "2");
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  leveldb_iter_seek(iterator, "a", 1);
  CHECK(leveldb_iter_valid(iterator) && has(db, setup, "b", "2"));
  leveldb_close(db);
  /* Now nothing may call it, whatever happens to the iterator. */
  CHECK(state.ended == 1);
  leveldb_iter_seek(iterator, "b", 1);
  CHECK(!leveldb_iter_valid(iterator));
  leveldb_iter_destroy(iterator);
  CHECK(leveldb_open(setup.options, directory, &error) == NULL);
  FAILS(error, "Invalid argument: the comparator of the options was destroyed");
  CHECK(state.ended == 1);
  tear_down(setup);

  /* One for two databases; the caches and environments of closed ones may go in any order. */
  setup = set_up();
  state.ended = 0;
  comparator = leveldb_comparator_create(&state, end_state, compare, name);
  leveldb_options_set_comparator(setup.options, comparator);
  leveldb_cache_t* cache = leveldb_cache_create_lru(1 << 20);
  leveldb_env_t* env = leveldb_create_default_env();
  leveldb_options_set_cache(setup.options, cache);
  leveldb_options_set_env(setup.options, env);
  char other_directory[600];
  snprintf(other_directory, sizeof other_directory, "%s-other", directory);
  db = must_open(setup, directory);
  leveldb_t* other = must_open(setup, other_directory);
  tear_down(setup);
  leveldb_cache_destroy(cache);
  leveldb_env_destroy(env);
  leveldb_comparator_destroy(comparator);
  leveldb_close(db);
  CHECK(state.ended == 0);
  setup = set_up();
  must_put(other, setup, "a", "1");
  CHECK(has(other, setup, "a", "1"));
  leveldb_close(other);
  CHECK(state.ended == 1);

  /* Without a destructor. */
  leveldb_comparator_destroy(leveldb_comparator_create(&state, NULL, compare, name));
  tear_down(setup);
}

void missing_pointers(const char* directory) {
  char* error = NULL;
  size_t length = 9;
  setup_t setup = set_up();
  CHECK(leveldb_open(NULL, directory, &error) == NULL);
  FAILS(error, "Invalid argument: options is NULL");
  CHECK(leveldb_open(setup.options, NULL, &error) == NULL);
  FAILS(error, "Invalid argument: name is NULL");
  CHECK(leveldb_open(setup.options, "", &error) == NULL);
  FAILS(error, "");
  CHECK(leveldb_open(NULL, NULL, NULL) == NULL);
  leveldb_t* db = must_open(setup, directory);

  leveldb_put(NULL, setup.writing, "k", 1, "v", 1, &error);
  FAILS(error, "Invalid argument: db is NULL");
  leveldb_put(db, NULL, "k", 1, "v", 1, &error);
  FAILS(error, "Invalid argument: options is NULL");
  leveldb_put(db, setup.writing, NULL, 1, "v", 1, &error);
  FAILS(error, "Invalid argument: key is NULL");
  leveldb_put(db, setup.writing, "k", 1, NULL, 1, &error);
  FAILS(error, "Invalid argument: value is NULL");
  leveldb_put(db, setup.writing, "k", SIZE_MAX, "v", 1, &error);
  FAILS(error, "Invalid argument: ");
  leveldb_put(db, setup.writing, NULL, 0, NULL, 0, &error);
  WORKS(error);
  leveldb_put(NULL, NULL, NULL, 1, NULL, 1, NULL);
  leveldb_delete(db, setup.writing, NULL, 1, &error);
  FAILS(error, "Invalid argument: key is NULL");
  leveldb_write(db, setup.writing, NULL, &error);
  FAILS(error, "Invalid argument: batch is NULL");
  CHECK(leveldb_get(NULL, setup.reading, "k", 1, &length, &error) == NULL && length == 0);
  FAILS(error, "Invalid argument: db is NULL");
  char* value = leveldb_get(db, setup.reading, "", 0, NULL, NULL);
  CHECK(value != NULL);
  leveldb_free(value);

  CHECK(leveldb_property_value(NULL, "leveldb.stats") == NULL);
  CHECK(leveldb_property_value(db, NULL) == NULL);
  CHECK(leveldb_property_value(db, "leveldb.\xff") == NULL);
  leveldb_approximate_sizes(db, 1, NULL, NULL, NULL, NULL, NULL);
  const char* keys[] = {NULL, "a"};
  size_t lengths[] = {1, 1};
  uint64_t sizes[] = {9, 9};
  leveldb_approximate_sizes(db, 2, keys, lengths, keys, lengths, sizes);
  CHECK(sizes[0] == 0 && sizes[1] == 0);
  leveldb_approximate_sizes(db, -1, keys, lengths, keys, lengths, sizes);
  leveldb_approximate_sizes(NULL, 1, keys, lengths, keys, lengths, sizes);
  leveldb_compact_range(NULL, NULL, 0, NULL, 0);
  CHECK(leveldb_create_snapshot(NULL) == NULL);
  leveldb_release_snapshot(db, NULL);
  leveldb_destroy_db(NULL, directory, &error);
  FAILS(error, "Invalid argument: options is NULL");
  leveldb_destroy_db(setup.options, NULL, &error);
  FAILS(error, "Invalid argument: name is NULL");
  leveldb_repair_db(setup.options, NULL, &error);
  FAILS(error, "Invalid argument: name is NULL");

  leveldb_iterator_t* iterator = leveldb_create_iterator(NULL, setup.reading);
  leveldb_iter_get_error(iterator, &error);
  FAILS(error, "Invalid argument: db is NULL");
  leveldb_iter_seek_to_first(iterator);
  leveldb_iter_get_error(iterator, NULL);
  leveldb_iter_destroy(iterator);
  iterator = leveldb_create_iterator(db, setup.reading);
  leveldb_iter_seek(iterator, NULL, 1);
  CHECK(!leveldb_iter_valid(iterator));
  leveldb_iter_get_error(iterator, &error);
  FAILS(error, "Invalid argument: key is NULL");
  leveldb_iter_seek(iterator, NULL, 0);
  CHECK(leveldb_iter_valid(iterator) && leveldb_iter_key(iterator, NULL) != NULL);
  leveldb_iter_destroy(iterator);
  leveldb_iter_destroy(NULL);
  leveldb_iter_seek_to_first(NULL);
  leveldb_iter_next(NULL);
  CHECK(!leveldb_iter_valid(NULL) && leveldb_iter_key(NULL, &length) == NULL && length == 0);

  leveldb_writebatch_put(NULL, "k", 1, "v", 1);
  leveldb_writebatch_delete(NULL, "k", 1);
  leveldb_writebatch_clear(NULL);
  leveldb_writebatch_append(NULL, NULL);
  leveldb_writebatch_iterate(NULL, NULL, NULL, NULL);
  leveldb_writebatch_destroy(NULL);
  leveldb_options_set_block_size(NULL, 1);
  leveldb_options_set_comparator(setup.options, NULL);
  leveldb_options_set_comparator(NULL, NULL);
  leveldb_options_set_env(setup.options, NULL);
  leveldb_options_set_cache(setup.options, NULL);
  leveldb_options_destroy(NULL);
  leveldb_readoptions_set_fill_cache(NULL, 1);
  leveldb_readoptions_set_snapshot(NULL, NULL);
  leveldb_readoptions_destroy(NULL);
  leveldb_writeoptions_set_sync(NULL, 1);
  leveldb_writeoptions_destroy(NULL);
  leveldb_cache_destroy(NULL);
  leveldb_env_destroy(NULL);
  CHECK(leveldb_env_get_test_directory(NULL) == NULL);
  leveldb_comparator_destroy(NULL);
  leveldb_filterpolicy_destroy(NULL);
  CHECK(leveldb_comparator_create(NULL, NULL, NULL, NULL) == NULL);
  CHECK(leveldb_filterpolicy_create(NULL, NULL, NULL, NULL, NULL) == NULL);
  leveldb_close(NULL);
  terrace_close(NULL, &error);
  FAILS(error, "Invalid argument: db is NULL");
  terrace_refresh(NULL, &error);
  FAILS(error, "Invalid argument: db is NULL");
  terrace_checkpoint(db, NULL, &error);
  FAILS(error, "Invalid argument: target is NULL");
  terrace_statistics(NULL, NULL, 8);
  leveldb_close(db);
  tear_down(setup);
}
