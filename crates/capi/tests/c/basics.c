/* Part of the transcript: puts, gets, deletes, batches, snapshots. See transcript.h. */

#include "transcript.h"

void basics(const char* directory) {
  setup_t setup = set_up();
  leveldb_t* db = open_or_exit(setup, directory);
  char* error = NULL;

  say_get(db, setup, "apple", 5);
  leveldb_put(db, setup.writing, "apple", 5, "red", 3, &error);
  say_outcome("put", &error);
  say_get(db, setup, "apple", 5);
  leveldb_put(db, setup.writing, "apple", 5, "green", 5, &error);
  say_outcome("put again", &error);
  say_get(db, setup, "apple", 5);
  leveldb_delete(db, setup.writing, "apple", 5, &error);
  say_outcome("delete", &error);
  say_get(db, setup, "apple", 5);
  leveldb_delete(db, setup.writing, "never", 5, &error);
  say_outcome("delete what is not there", &error);

  error = strdup("an older message");
  leveldb_put(db, setup.writing, "b", 1, "2", 1, &error);
  printf("what works leaves %s\n", error);
  leveldb_free(error);
  error = NULL;

  leveldb_put(db, setup.writing, "", 0, "of the empty key", 16, &error);
  leveldb_put(db, setup.writing, "empty value", 11, "", 0, &error);
  leveldb_put(db, setup.writing, "a\0b\xff", 4, "\0\1\xfe", 3, &error);
  say_outcome("odd puts", &error);
  say_get(db, setup, "", 0);
  say_get(db, setup, "empty value", 11);
  say_get(db, setup, "a\0b\xff", 4);
  say_get(db, setup, "a", 1);

  leveldb_writeoptions_set_sync(setup.writing, 1);
  size_t length = 3 << 20;
  char* large = malloc(length);
  make_value(7, large, length);
  leveldb_put(db, setup.writing, "large", 5, large, length, &error);
  leveldb_put(db, setup.writing, large, 70000, "large key", 9, &error);
  say_outcome("large, synced", &error);
  leveldb_writeoptions_set_sync(setup.writing, 0);
  say_get(db, setup, "large", 5);
  say_get(db, setup, large, 70000);
  free(large);

  leveldb_close(db);
  db = open_or_exit(setup, directory);
  printf("opened again\n");
  say_get(db, setup, "", 0);
  say_get(db, setup, "empty value", 11);
  say_get(db, setup, "large", 5);
  say_get(db, setup, "apple", 5);
  leveldb_close(db);
  tear_down(setup);
}

static void say_put(void* state, const char* key, size_t key_length, const char* value, size_t value_length) {
  printf("  %d put ", (*(int*)state)++);
  say_bytes(key, key_length);
  printf(" = ");
  say_bytes(value, value_length);
  printf("\n");
}

static void say_deleted(void* state, const char* key, size_t length) {
  printf("  %d delete ", (*(int*)state)++);
  say_bytes(key, length);
  printf("\n");
}

static void say_batch(const char* what, const leveldb_writebatch_t* batch) {
  int number = 1;
  printf("%s\n", what);
  leveldb_writebatch_iterate(batch, &number, say_put, say_deleted);
}

void batches(const char* directory) {
  setup_t setup = set_up();
  leveldb_t* db = open_or_exit(setup, directory);
  char* error = NULL;
  leveldb_writebatch_t* batch = leveldb_writebatch_create();
  leveldb_writebatch_t* other = leveldb_writebatch_create();

  say_batch("an empty batch", batch);
  leveldb_write(db, setup.writing, batch, &error);
  say_outcome("written", &error);

  leveldb_writebatch_put(batch, "foo", 3, "forgotten", 9);
  leveldb_writebatch_clear(batch);
  say_batch("a cleared batch", batch);

  leveldb_writebatch_put(batch, "a", 1, "1", 1);
  leveldb_writebatch_delete(batch, "a", 1);
  leveldb_writebatch_put(batch, "b", 1, "", 0);
  leveldb_writebatch_put(batch, "", 0, "empty", 5);
  leveldb_writebatch_put(batch, "c", 1, "first", 5);
  leveldb_writebatch_put(batch, "c", 1, "last\0", 5);
  say_batch("a batch", batch);

  leveldb_writebatch_delete(other, "", 0);
  leveldb_writebatch_put(other, "d", 1, "4", 1);
  leveldb_writebatch_append(batch, other);
  say_batch("another one behind it", batch);
  say_batch("which stays as it is", other);
  leveldb_writebatch_clear(other);
  leveldb_writebatch_append(batch, other);
  leveldb_writebatch_destroy(other);
  say_batch("and nothing behind that", batch);

  leveldb_write(db, setup.writing, batch, &error);
  say_outcome("written", &error);
  leveldb_writeoptions_set_sync(setup.writing, 1);
  leveldb_write(db, setup.writing, batch, &error);
  say_outcome("written again, synced", &error);
  say_batch("it is as before", batch);
  const char* keys[] = {"a", "b", "", "c", "d", "foo"};
  for (int index = 0; index < 6; index++) {
    say_get(db, setup, keys[index], strlen(keys[index]));
  }
  leveldb_writebatch_destroy(batch);

  batch = leveldb_writebatch_create();
  for (int index = 0; index < 10000; index++) {
    char key[16];
    snprintf(key, sizeof key, "n%05d", index % 7000);
    leveldb_writebatch_put(batch, key, 6, key, 6);
  }
  leveldb_write(db, setup.writing, batch, &error);
  say_outcome("a large one", &error);
  leveldb_writebatch_destroy(batch);
  leveldb_close(db);
  db = open_or_exit(setup, directory);
  int entries = 0;
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, setup.reading);
  for (leveldb_iter_seek(iterator, "n", 1); leveldb_iter_valid(iterator); leveldb_iter_next(iterator)) {
    entries++;
  }
  leveldb_iter_destroy(iterator);
  printf("%d entries of it\n", entries);
  leveldb_close(db);
  tear_down(setup);
}

static void say_all(leveldb_t* db, setup_t setup) {
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, setup.reading);
  for (leveldb_iter_seek_to_first(iterator); leveldb_iter_valid(iterator); leveldb_iter_next(iterator)) {
    say_entry(iterator);
  }
  leveldb_iter_destroy(iterator);
}

void snapshots(const char* directory) {
  setup_t setup = set_up();
  leveldb_t* db = open_or_exit(setup, directory);
  const leveldb_snapshot_t* empty = leveldb_create_snapshot(db);
  put(db, setup, "a", "1");
  put(db, setup, "b", "1");
  const leveldb_snapshot_t* first = leveldb_create_snapshot(db);
  put(db, setup, "a", "2");
  erase(db, setup, "b");
  put(db, setup, "c", "2");
  const leveldb_snapshot_t* second = leveldb_create_snapshot(db);
  erase(db, setup, "a");
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  const leveldb_snapshot_t* states[] = {empty, first, second, NULL};
  for (int index = 0; index < 4; index++) {
    printf("state %d\n", index);
    leveldb_readoptions_set_snapshot(setup.reading, states[index]);
    say_get(db, setup, "a", 1);
    say_get(db, setup, "b", 1);
    say_get(db, setup, "c", 1);
    say_all(db, setup);
  }
  leveldb_readoptions_set_snapshot(setup.reading, first);
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, setup.reading);
  leveldb_readoptions_set_snapshot(setup.reading, NULL);
  leveldb_release_snapshot(db, first);
  leveldb_release_snapshot(db, empty);
  printf("an iterator keeps the state of a released snapshot\n");
  leveldb_iter_seek(iterator, "b", 1);
  say_entry(iterator);
  leveldb_iter_destroy(iterator);
  leveldb_release_snapshot(db, second);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  say_all(db, setup);
  leveldb_close(db);
  tear_down(setup);
}
