/* Part of the transcript: iterators. See transcript.h. */

#include "transcript.h"

static void seek_and_say(leveldb_iterator_t* iterator, const char* key, size_t length) {
  printf("seek ");
  say_bytes(key, length);
  printf("\n");
  leveldb_iter_seek(iterator, key, length);
  say_entry(iterator);
}

static void next_and_say(leveldb_iterator_t* iterator) {
  printf("next\n");
  leveldb_iter_next(iterator);
  say_entry(iterator);
}

static void prev_and_say(leveldb_iterator_t* iterator) {
  printf("prev\n");
  leveldb_iter_prev(iterator);
  say_entry(iterator);
}

static void walk(leveldb_t* db, setup_t setup) {
  char* error = NULL;
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, setup.reading);
  printf("new\n");
  say_entry(iterator);
  printf("first\n");
  leveldb_iter_seek_to_first(iterator);
  say_entry(iterator);
  next_and_say(iterator);
  next_and_say(iterator);
  prev_and_say(iterator);
  prev_and_say(iterator);
  prev_and_say(iterator);
  printf("last\n");
  leveldb_iter_seek_to_last(iterator);
  say_entry(iterator);
  prev_and_say(iterator);
  next_and_say(iterator);
  next_and_say(iterator);
  seek_and_say(iterator, "", 0);
  seek_and_say(iterator, "c", 1);
  seek_and_say(iterator, "cc", 2);
  prev_and_say(iterator);
  next_and_say(iterator);
  next_and_say(iterator);
  seek_and_say(iterator, "d", 1);
  prev_and_say(iterator);
  seek_and_say(iterator, "f", 1);
  seek_and_say(iterator, "zzz", 3);
  leveldb_iter_get_error(iterator, &error);
  say_outcome("iterator", &error);
  leveldb_iter_destroy(iterator);
}

void iterators(const char* directory) {
  setup_t setup = set_up();
  leveldb_options_set_write_buffer_size(setup.options, 64 << 10);
  leveldb_t* db = open_or_exit(setup, directory);

  printf("over nothing\n");
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, setup.reading);
  leveldb_iter_seek_to_first(iterator);
  say_entry(iterator);
  leveldb_iter_seek_to_last(iterator);
  say_entry(iterator);
  seek_and_say(iterator, "x", 1);

  const char* keys[] = {"e", "a", "c", "f", "b", "d"};
  for (int index = 0; index < 6; index++) {
    put(db, setup, keys[index], "old");
    put(db, setup, keys[index], keys[index]);
  }
  erase(db, setup, "d");
  printf("made before the puts\n");
  leveldb_iter_seek_to_first(iterator);
  say_entry(iterator);
  leveldb_iter_destroy(iterator);

  printf("in memory\n");
  walk(db, setup);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  printf("in a table\n");
  walk(db, setup);
  put(db, setup, "c", "newer");
  erase(db, setup, "a");
  put(db, setup, "a\x01", "newer");
  put(db, setup, "d", "newer");
  erase(db, setup, "f");
  printf("in both\n");
  walk(db, setup);
  for (int index = 0; index < 6; index++) {
    erase(db, setup, keys[index]);
  }
  erase(db, setup, "a\x01");

  printf("many\n");
  fill(db, setup, 5000, 100);
  iterator = leveldb_create_iterator(db, setup.reading);
  leveldb_iter_seek(iterator, "k002500", 7);
  for (int index = 0; index < 5000; index += 2) {
    char key[16];
    snprintf(key, sizeof key, "k%06d", index);
    erase(db, setup, key);
  }
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  int seen = 0;
  for (; leveldb_iter_valid(iterator); leveldb_iter_next(iterator)) {
    seen++;
  }
  printf("%d from the middle on, as it was\n", seen);
  leveldb_iter_destroy(iterator);
  leveldb_readoptions_set_fill_cache(setup.reading, 0);
  leveldb_readoptions_set_verify_checksums(setup.reading, 1);
  say_filled(db, setup, 5000, 100);
  leveldb_close(db);
  tear_down(setup);
}
