/* Part of the transcript: comparators and filter policies of the program's own. See transcript.h. */

#include "transcript.h"

/* The state of a comparator or a policy. */
typedef struct {
  const char* name;
  int was_called;
  int denies; /* how a policy answers: 1 denies all, 2 admits all, 0 obeys its filter */
} state_t;

static void end_state(void* state) {
  printf("end of %s\n", ((state_t*)state)->name);
}

static const char* state_name(void* state) {
  return ((state_t*)state)->name;
}

static int compare_bytes(const char* a, size_t a_length, const char* b, size_t b_length) {
  int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
  return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_reversed(void* state, const char* a, size_t a_length, const char* b, size_t b_length) {
  ((state_t*)state)->was_called = 1;
  return compare_bytes(b, b_length, a, a_length);
}

static int number_of(const char* bytes, size_t length) {
  int number = 0;
  for (size_t index = 0; index < length; index++) {
    number = number * 10 + (bytes[index] - '0');
  }
  return number;
}

/* Numbers: "7" and "07" are one key. */
static int compare_numbers(void* state, const char* a, size_t a_length, const char* b, size_t b_length) {
  ((state_t*)state)->was_called = 1;
  int first = number_of(a, a_length), second = number_of(b, b_length);
  return (first > second) - (first < second);
}

void comparators(const char* directory) {
  char* error = NULL;
  state_t state = {"test.reversed", 0, 0};
  leveldb_comparator_t* reversed = leveldb_comparator_create(&state, end_state, compare_reversed, state_name);
  setup_t setup = set_up();
  leveldb_options_set_write_buffer_size(setup.options, 64 << 10);
  leveldb_options_set_comparator(setup.options, reversed);
  leveldb_t* db = open_or_exit(setup, directory);
  for (int index = 0; index < 4000; index++) {
    char key[16];
    snprintf(key, sizeof key, "%d", index * 37 % 4000);
    put(db, setup, key, "a value of the kind that fills tables after a while");
  }
  erase(db, setup, "999");
  for (int round = 0; round < 2; round++) {
    leveldb_iterator_t* iterator = leveldb_create_iterator(db, setup.reading);
    int entries = 0;
    for (leveldb_iter_seek_to_first(iterator); leveldb_iter_valid(iterator); leveldb_iter_next(iterator)) {
      if (entries++ < 3) say_entry(iterator);
    }
    printf("%d entries\n", entries);
    leveldb_iter_seek(iterator, "5", 1);
    say_entry(iterator);
    leveldb_iter_seek(iterator, "999", 3);
    say_entry(iterator);
    leveldb_iter_prev(iterator);
    say_entry(iterator);
    leveldb_iter_seek_to_last(iterator);
    say_entry(iterator);
    leveldb_iter_destroy(iterator);
    say_get(db, setup, "1234", 4);
    say_get(db, setup, "999", 3);
    leveldb_compact_range(db, "9", 1, "1", 1);
  }
  leveldb_close(db);

  setup_t plain = set_up();
  db = leveldb_open(plain.options, directory, &error);
  say_outcome("open in bytewise order", &error);
  state_t other_state = {"test.numbers", 0, 0};
  leveldb_comparator_t* numbers =
      leveldb_comparator_create(&other_state, end_state, compare_numbers, state_name);
  leveldb_options_set_comparator(plain.options, numbers);
  db = leveldb_open(plain.options, directory, &error);
  say_outcome("open in another order", &error);
  db = open_or_exit(setup, directory);
  say_get(db, setup, "77", 2);
  leveldb_close(db);
  leveldb_destroy_db(setup.options, directory, &error);
  say_outcome("destroyed", &error);
  tear_down(setup);
  leveldb_comparator_destroy(reversed);
  printf("the order was asked: %d\n", state.was_called);

  db = open_or_exit(plain, directory);
  put(db, plain, "10", "ten");
  put(db, plain, "9", "nine");
  put(db, plain, "0010", "ten again");
  say_get(db, plain, "10", 2);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  say_get(db, plain, "00010", 5);
  say_get(db, plain, "9", 1);
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, plain.reading);
  for (leveldb_iter_seek_to_first(iterator); leveldb_iter_valid(iterator); leveldb_iter_next(iterator)) {
    say_entry(iterator);
  }
  leveldb_iter_destroy(iterator);
  leveldb_close(db);
  leveldb_repair_db(plain.options, directory, &error);
  say_outcome("repaired", &error);
  db = open_or_exit(plain, directory);
  say_get(db, plain, "9", 1);
  leveldb_close(db);
  leveldb_comparator_destroy(numbers);
  tear_down(plain);
}

/* A filter of one byte for each key: the sum of the key's bytes. */
static char* sum_filter(void* state, const char* const* keys, const size_t* lengths, int count, size_t* length) {
  ((state_t*)state)->was_called = 1;
  char* filter = malloc((size_t)count);
  for (int key = 0; key < count; key++) {
    char sum = 0;
    for (size_t index = 0; index < lengths[key]; index++) sum = (char)(sum + keys[key][index]);
    filter[key] = sum;
  }
  *length = (size_t)count;
  return filter;
}

static uint8_t sum_may_match(void* state, const char* key, size_t length, const char* filter, size_t filter_length) {
  int denies = ((state_t*)state)->denies;
  if (denies != 0) return denies == 2;
  char sum = 0;
  for (size_t index = 0; index < length; index++) sum = (char)(sum + key[index]);
  return memchr(filter, sum, filter_length) != NULL;
}

void filters(const char* directory) {
  state_t state = {"test.sums", 0, 0};
  leveldb_filterpolicy_t* policy =
      leveldb_filterpolicy_create(&state, end_state, sum_filter, sum_may_match, state_name);
  setup_t setup = set_up();
  leveldb_options_set_filter_policy(setup.options, policy);
  leveldb_t* db = open_or_exit(setup, directory);
  fill(db, setup, 5000, 100);
  printf("a filter was made of what is in memory: %d\n", state.was_called);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  printf("of what is in tables: %d\n", state.was_called);
  say_filled(db, setup, 5000, 100);
  say_get(db, setup, "k000123", 7);
  state.denies = 1;
  printf("while it denies all\n");
  say_get(db, setup, "k000123", 7);
  put(db, setup, "in memory", "is not asked about");
  say_get(db, setup, "in memory", 9);
  state.denies = 2;
  printf("while it admits all\n");
  say_get(db, setup, "k000123", 7);
  say_get(db, setup, "k000123x", 8);
  state.denies = 0;
  leveldb_close(db);
  db = open_or_exit(setup, directory);
  erase(db, setup, "in memory");
  say_filled(db, setup, 5000, 100);
  leveldb_close(db);

  printf("without the policy\n");
  state.denies = 1;
  leveldb_options_set_filter_policy(setup.options, NULL);
  db = open_or_exit(setup, directory);
  say_filled(db, setup, 5000, 100);
  leveldb_close(db);
  tear_down(setup);
  leveldb_filterpolicy_destroy(policy);
}
