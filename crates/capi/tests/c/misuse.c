/* Part of `beyond`: meaningless values, and callbacks that break the rules. See beyond.h. */

#include "beyond.h"

static void nothing(void* state) {
  (void)state;
}

static const char* name_of(void* state) {
  return state;
}

static int compare(void* state, const char* a, size_t a_length, const char* b, size_t b_length) {
  (void)state;
  int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
  return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static char* make_filter(void* state, const char* const* keys, const size_t* lengths, int count, size_t* length) {
  (void)state, (void)keys, (void)lengths, (void)count;
  *length = 1;
  return calloc(1, 1);
}

static uint8_t may_match(void* state, const char* key, size_t length, const char* filter, size_t filter_length) {
  (void)state, (void)key, (void)length, (void)filter, (void)filter_length;
  return 1;
}

/* Names are bytes to LevelDB, and so to us. */
void names_that_are_no_text(const char* directory) {
  char* error = NULL;
  setup_t setup = set_up();
  leveldb_comparator_t* comparator = leveldb_comparator_create("order \xff\xfe", nothing, compare, name_of);
  leveldb_filterpolicy_t* policy =
      leveldb_filterpolicy_create("filter \xff\xfe", nothing, make_filter, may_match, name_of);
  leveldb_options_set_comparator(setup.options, comparator);
  leveldb_options_set_filter_policy(setup.options, policy);
  for (int round = 0; round < 2; round++) {
    leveldb_t* db = must_open(setup, directory);
    must_put(db, setup, "key", "value");
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    CHECK(has(db, setup, "key", "value"));
    leveldb_close(db);
  }
  setup_t plain = set_up();
  CHECK(leveldb_open(plain.options, directory, &error) == NULL);
  CHECK(strstr(error, " does not match existing comparator : leveldb.BytewiseComparator") != NULL);
  FAILS(error, "Invalid argument: order ");
  leveldb_repair_db(setup.options, directory, &error);
  WORKS(error);
  tear_down(plain);
  tear_down(setup);
  leveldb_comparator_destroy(comparator);
  leveldb_filterpolicy_destroy(policy);
}

void bad_options(const char* directory) {
  char* error = NULL;
  setup_t setup = set_up();
  int intervals[] = {0, -1, -2147483647};
  for (int index = 0; index < 3; index++) {
    leveldb_options_set_block_restart_interval(setup.options, intervals[index]);
    CHECK(leveldb_open(setup.options, directory, &error) == NULL);
    FAILS(error, "Invalid argument: block_restart_interval cannot be");
  }
  leveldb_options_set_block_restart_interval(setup.options, 16);
  int compressions[] = {-1, 3, 77};
  for (int index = 0; index < 3; index++) {
    leveldb_options_set_compression(setup.options, compressions[index]);
    CHECK(leveldb_open(setup.options, directory, &error) == NULL);
    FAILS(error, "Invalid argument: compression cannot be");
    leveldb_destroy_db(setup.options, directory, &error);
    FAILS(error, "Invalid argument: compression cannot be");
    leveldb_repair_db(setup.options, directory, &error);
    FAILS(error, "Invalid argument: compression cannot be");
  }
  leveldb_options_set_compression(setup.options, leveldb_snappy_compression);
  leveldb_repair_db(setup.options, directory, &error);
  FAILS(error, "IO error: ");
  leveldb_comparator_t* nameless = leveldb_comparator_create(NULL, nothing, compare, name_of);
  leveldb_options_set_comparator(setup.options, nameless);
  CHECK(leveldb_open(setup.options, directory, &error) == NULL);
  FAILS(error, "Invalid argument: the name of the comparator");
  leveldb_options_set_comparator(setup.options, NULL);
  leveldb_comparator_destroy(nameless);
  leveldb_options_set_max_open_files(setup.options, 2147483647);
  leveldb_options_set_write_buffer_size(setup.options, SIZE_MAX);
  leveldb_options_set_max_file_size(setup.options, SIZE_MAX);
  leveldb_options_set_block_size(setup.options, SIZE_MAX);
  int bits[] = {-1, 0, 1, 100000};
  for (int index = 0; index < 4; index++) {
    leveldb_filterpolicy_t* bloom = leveldb_filterpolicy_create_bloom(bits[index]);
    leveldb_options_set_filter_policy(setup.options, bloom);
    leveldb_t* db = must_open(setup, directory);
    must_put(db, setup, "k", "v");
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    CHECK(has(db, setup, "k", "v") && has(db, setup, "l", NULL));
    leveldb_close(db);
    leveldb_filterpolicy_destroy(bloom);
  }
  /* A Bloom filter has no callbacks, so options may outlive it. */
  leveldb_close(must_open(setup, directory));
  tear_down(setup);
}

static void change_batch(void* batch, const char* key, size_t length) {
  CHECK(length == 1 && key[0] == 'a');
  leveldb_writebatch_clear(batch);
  leveldb_writebatch_put(batch, "z", 1, "", 0);
  CHECK(length == 1 && key[0] == 'a');
}

static void count_put(void* count, const char* key, size_t key_length, const char* value, size_t value_length) {
  (void)key, (void)value;
  *(size_t*)count += key_length + value_length;
}

void odd_batches(const char* directory) {
  char* error = NULL;
  setup_t setup = set_up();
  leveldb_t* db = must_open(setup, directory);
  leveldb_writebatch_t* batch = leveldb_writebatch_create();
  leveldb_writebatch_delete(batch, "a", 1);
  leveldb_writebatch_delete(batch, "a", 1);
  leveldb_writebatch_iterate(batch, batch, NULL, change_batch);
  leveldb_writebatch_append(batch, batch);
  leveldb_writebatch_append(batch, batch);
  size_t count = 0;
  leveldb_writebatch_iterate(batch, &count, count_put, NULL);
  CHECK(count == 4 || count == 8);
  leveldb_writebatch_iterate(batch, NULL, NULL, NULL);

  /* An operation that cannot be added makes the write fail, until the batch is cleared. */
  size_t too_long = ((size_t)64 << 20) + 1;
  char* key = calloc(too_long, 1);
  leveldb_writebatch_put(batch, key, too_long, "v", 1);
  leveldb_writebatch_put(batch, "later", 5, "v", 1);
  leveldb_write(db, setup.writing, batch, &error);
  FAILS(error, "Invalid argument: ");
  CHECK(has(db, setup, "later", NULL) && has(db, setup, "z", NULL));
  leveldb_writebatch_t* other = leveldb_writebatch_create();
  leveldb_writebatch_append(other, batch);
  leveldb_write(db, setup.writing, other, &error);
  FAILS(error, "Invalid argument: ");
  leveldb_writebatch_destroy(other);
  leveldb_writebatch_clear(batch);
  leveldb_writebatch_put(batch, NULL, 3, "v", 1);
  leveldb_write(db, setup.writing, batch, &error);
  FAILS(error, "Invalid argument: key is NULL");
  leveldb_writebatch_clear(batch);
  leveldb_writebatch_put(batch, "later", 5, "v", 1);
  leveldb_write(db, setup.writing, batch, &error);
  WORKS(error);
  CHECK(has(db, setup, "later", "v"));
  leveldb_put(db, setup.writing, key, too_long, "v", 1, &error);
  FAILS(error, "Invalid argument: ");
  free(key);
  leveldb_writebatch_destroy(batch);
  leveldb_close(db);
  tear_down(setup);
}

/* The kinds of function that are not an order. */
enum { RANDOM, ALWAYS_LESS, ALWAYS_MORE, ALWAYS_SAME, CIRCLE, KINDS };

typedef struct {
  int kind;
} order_t;

static int compare_badly(void* state, const char* a, size_t a_length, const char* b, size_t b_length) {
  static uint32_t random = 1; /* shared by threads without a lock, to make it worse */
  switch (((order_t*)state)->kind) {
    case RANDOM:
      __atomic_store_n(&random, __atomic_load_n(&random, __ATOMIC_RELAXED) * 1664525u + 1013904223u, __ATOMIC_RELAXED);
      return (int)(__atomic_load_n(&random, __ATOMIC_RELAXED) >> 24) % 3 - 1;
    case ALWAYS_LESS:
      return -2147483647 - 1;
    case ALWAYS_MORE:
      return 2147483647;
    case ALWAYS_SAME:
      return 0;
    default: { /* stone, paper, scissors, by the last byte */
      int first = a_length == 0 ? 0 : (uint8_t)a[a_length - 1] % 3;
      int second = b_length == 0 ? 0 : (uint8_t)b[b_length - 1] % 3;
      return first == second ? compare(NULL, a, a_length, b, b_length) : (first + 1) % 3 == second ? -1 : 1;
    }
  }
}

static const char* bad_name(void* state) {
  (void)state;
  return "test.no-order";
}

/* Any call may fail; none may crash or hang. */
void no_order(const char* directory) {
  for (int kind = 0; kind < KINDS; kind++) {
    char here[600];
    char* error = NULL;
    order_t order = {kind};
    snprintf(here, sizeof here, "%s-%d", directory, kind);
    setup_t setup = set_up();
    leveldb_comparator_t* comparator = leveldb_comparator_create(&order, nothing, compare_badly, bad_name);
    leveldb_options_set_comparator(setup.options, comparator);
    leveldb_options_set_write_buffer_size(setup.options, 64 << 10);
    for (int round = 0; round < 2; round++) {
      leveldb_t* db = leveldb_open(setup.options, here, &error);
      leveldb_free(error);
      error = NULL;
      if (db == NULL) continue;
      leveldb_iterator_t* iterator = leveldb_create_iterator(db, setup.reading);
      for (int index = 0; index < 3000; index++) {
        char key[16];
        size_t length;
        snprintf(key, sizeof key, "%d", index * 7919 % 3000);
        leveldb_put(db, setup.writing, key, strlen(key), "a value that fills the memory soon enough", 41, &error);
        if (index % 500 == 0) {
          leveldb_free(leveldb_get(db, setup.reading, key, strlen(key), &length, &error));
          leveldb_iter_seek(iterator, key, strlen(key));
        }
      }
      leveldb_compact_range(db, NULL, 0, NULL, 0);
      leveldb_compact_range(db, "1", 1, "2", 1);
      leveldb_iter_destroy(iterator);
      iterator = leveldb_create_iterator(db, setup.reading);
      leveldb_iter_seek_to_first(iterator);
      for (int step = 0; step < 10000 && leveldb_iter_valid(iterator); step++) leveldb_iter_next(iterator);
      leveldb_iter_seek_to_last(iterator);
      for (int step = 0; step < 10000 && leveldb_iter_valid(iterator); step++) leveldb_iter_prev(iterator);
      leveldb_iter_get_error(iterator, &error);
      terrace_verify(db, &error);
      leveldb_close(db);
      leveldb_iter_destroy(iterator);
    }
    leveldb_repair_db(setup.options, here, &error);
    leveldb_free(error);
    tear_down(setup);
    leveldb_comparator_destroy(comparator);
  }
}

static char* no_filter(void* kind, const char* const* keys, const size_t* lengths, int count, size_t* length) {
  (void)keys, (void)lengths, (void)count;
  switch (*(const char*)kind) {
    case '0': /* no memory */
      *length = 4;
      return NULL;
    case '1': /* empty */
      *length = 0;
      return malloc(1);
    default: /* an impossible length */
      *length = SIZE_MAX;
      return malloc(1);
  }
}

static uint8_t deny(void* kind, const char* key, size_t length, const char* filter, size_t filter_length) {
  (void)kind, (void)key, (void)length, (void)filter, (void)filter_length;
  return 0;
}

/* A filter that could not be made loses no entry. */
void bad_filters(const char* directory) {
  char* error = NULL;
  char kinds[] = "012";
  for (int index = 0; index < 3; index++) {
    setup_t setup = set_up();
    leveldb_filterpolicy_t* policy = leveldb_filterpolicy_create(&kinds[index], nothing, no_filter, deny, name_of);
    leveldb_options_set_filter_policy(setup.options, policy);
    leveldb_t* db = must_open(setup, directory);
    must_put(db, setup, "k", "v");
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    CHECK(has(db, setup, "k", "v"));
    terrace_verify(db, &error);
    WORKS(error);
    leveldb_filterpolicy_destroy(policy);
    leveldb_close(db);
    CHECK(leveldb_open(setup.options, directory, &error) == NULL);
    FAILS(error, "Invalid argument: the filter policy of the options was destroyed");
    leveldb_options_set_filter_policy(setup.options, NULL);
    leveldb_destroy_db(setup.options, directory, &error);
    WORKS(error);
    tear_down(setup);
  }
}
