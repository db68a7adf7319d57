/* Part of the transcript: operations at random, in bytewise order and in one of the program's own. What they read is written
   as a checksum. See transcript.h. */

#include "transcript.h"

enum { WALKS = 6, OPERATIONS = 4000, KEYS = 400, HELD = 4 };

typedef struct {
  setup_t setup;
  const char* directory;
  leveldb_t* db;
  leveldb_iterator_t* iterators[HELD];
  const leveldb_snapshot_t* snapshots[HELD];
  uint64_t random;
  uint32_t sum;
  int seen;
} walk_t;

static uint32_t below(walk_t* walk, uint32_t bound) {
  walk->random = walk->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(walk->random >> 33) % bound;
}

static void note(walk_t* walk, const char* bytes, size_t length) {
  for (size_t index = 0; index < length; index++) walk->sum = (walk->sum ^ (uint8_t)bytes[index]) * 16777619u;
  walk->sum = (walk->sum ^ (uint32_t)length) * 16777619u;
  walk->seen++;
}

/* Keys of several lengths, some of which begin with another. */
static size_t make_key(walk_t* walk, char* key) {
  uint32_t number = below(walk, KEYS);
  size_t length = (size_t)sprintf(key, "%u", number * 7919);
  return number % 5 == 0 ? length / 2 : length;
}

static size_t make_text(walk_t* walk, char* value) {
  size_t length = below(walk, 10) == 0 ? 2000 : below(walk, 100);
  make_value((int)below(walk, 1 << 20), value, length);
  return length;
}

static void note_entry(walk_t* walk, leveldb_iterator_t* iterator) {
  if (!leveldb_iter_valid(iterator)) {
    note(walk, "none", 4);
    return;
  }
  size_t length;
  const char* bytes = leveldb_iter_key(iterator, &length);
  note(walk, bytes, length);
  bytes = leveldb_iter_value(iterator, &length);
  note(walk, bytes, length);
}

static void move(walk_t* walk, leveldb_iterator_t* iterator) {
  char key[32];
  for (uint32_t steps = below(walk, 12); steps > 0; steps--) {
    uint32_t kind = below(walk, 10);
    if (kind == 0) {
      leveldb_iter_seek_to_first(iterator);
    } else if (kind == 1) {
      leveldb_iter_seek_to_last(iterator);
    } else if (kind <= 3 || !leveldb_iter_valid(iterator)) {
      size_t length = make_key(walk, key);
      leveldb_iter_seek(iterator, key, length);
    } else if (kind <= 6) {
      leveldb_iter_next(iterator);
    } else {
      leveldb_iter_prev(iterator);
    }
    note_entry(walk, iterator);
  }
}

static void let_go(walk_t* walk, int place) {
  if (walk->iterators[place] != NULL) leveldb_iter_destroy(walk->iterators[place]);
  if (walk->snapshots[place] != NULL) leveldb_release_snapshot(walk->db, walk->snapshots[place]);
  walk->iterators[place] = NULL;
  walk->snapshots[place] = NULL;
}

static void close_all(walk_t* walk) {
  for (int place = 0; place < HELD; place++) let_go(walk, place);
  leveldb_close(walk->db);
}

static void write_some(walk_t* walk, char** error) {
  char key[32], value[2000];
  leveldb_writebatch_t* batch = leveldb_writebatch_create();
  for (uint32_t count = below(walk, 30); count > 0; count--) {
    size_t length = make_key(walk, key);
    if (below(walk, 3) == 0) {
      leveldb_writebatch_delete(batch, key, length);
    } else {
      leveldb_writebatch_put(batch, key, length, value, make_text(walk, value));
    }
  }
  leveldb_write(walk->db, walk->setup.writing, batch, error);
  leveldb_writebatch_destroy(batch);
}

static void operate(walk_t* walk, char** error) {
  char key[32], value[2000];
  size_t length = make_key(walk, key);
  int place = (int)below(walk, HELD);
  uint32_t kind = below(walk, 100);
  if (kind < 25) {
    leveldb_put(walk->db, walk->setup.writing, key, length, value, make_text(walk, value), error);
  } else if (kind < 35) {
    leveldb_delete(walk->db, walk->setup.writing, key, length, error);
  } else if (kind < 45) {
    write_some(walk, error);
  } else if (kind < 70) {
    size_t value_length;
    leveldb_readoptions_set_snapshot(walk->setup.reading, walk->snapshots[place]);
    char* found = leveldb_get(walk->db, walk->setup.reading, key, length, &value_length, error);
    leveldb_readoptions_set_snapshot(walk->setup.reading, NULL);
    note(walk, found == NULL ? "none" : found, found == NULL ? 4 : value_length);
    leveldb_free(found);
  } else if (kind < 85) {
    if (walk->iterators[place] == NULL) {
      leveldb_readoptions_set_snapshot(walk->setup.reading, walk->snapshots[place]);
      walk->iterators[place] = leveldb_create_iterator(walk->db, walk->setup.reading);
      leveldb_readoptions_set_snapshot(walk->setup.reading, NULL);
    }
    move(walk, walk->iterators[place]);
  } else if (kind < 90) {
    let_go(walk, place);
    walk->snapshots[place] = leveldb_create_snapshot(walk->db);
  } else if (kind < 97) {
    let_go(walk, place);
  } else if (kind < 99) {
    char limit[32];
    size_t limit_length = make_key(walk, limit);
    leveldb_compact_range(walk->db, key, length, limit, limit_length);
  } else {
    close_all(walk);
    walk->db = open_or_exit(walk->setup, walk->directory);
  }
}

static int compare_by_length(void* state, const char* a, size_t a_length, const char* b, size_t b_length) {
  (void)state;
  if (a_length != b_length) return a_length < b_length ? -1 : 1;
  return memcmp(b, a, a_length);
}

static const char* name_of(void* state) {
  return state;
}

static void nothing(void* state) {
  (void)state;
}

void walks(const char* directory) {
  leveldb_comparator_t* by_length =
      leveldb_comparator_create("test.by-length", nothing, compare_by_length, name_of);
  leveldb_filterpolicy_t* bloom = leveldb_filterpolicy_create_bloom(10);
  for (int number = 0; number < WALKS; number++) {
    char* error = NULL;
    walk_t walk = {.setup = set_up(), .directory = directory, .random = (uint64_t)number, .sum = 1};
    leveldb_options_set_write_buffer_size(walk.setup.options, 64 << 10);
    leveldb_options_set_block_size(walk.setup.options, 1 << 10);
    if (number % 2 == 1) leveldb_options_set_comparator(walk.setup.options, by_length);
    if (number % 3 == 1) leveldb_options_set_filter_policy(walk.setup.options, bloom);
    walk.db = open_or_exit(walk.setup, directory);
    for (int operation = 0; operation < OPERATIONS && error == NULL; operation++) operate(&walk, &error);
    leveldb_iterator_t* iterator = leveldb_create_iterator(walk.db, walk.setup.reading);
    int entries = 0;
    for (leveldb_iter_seek_to_first(iterator); leveldb_iter_valid(iterator); leveldb_iter_next(iterator)) {
      note_entry(&walk, iterator);
      entries++;
    }
    leveldb_iter_destroy(iterator);
    close_all(&walk);
    printf("walk %d: %d entries, %d parts seen, %08" PRIx32 "\n", number, entries, walk.seen, walk.sum);
    say_outcome("  all of it", &error);
    leveldb_destroy_db(walk.setup.options, directory, &error);
    say_outcome("  destroyed", &error);
    tear_down(walk.setup);
  }
  leveldb_filterpolicy_destroy(bloom);
  leveldb_comparator_destroy(by_length);
}
