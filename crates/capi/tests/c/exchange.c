/* Databases that one library writes and the other reads: with a filter policy of the program's own, a Bloom filter, and an
   order of its own.

   usage: exchange write|read directory */

#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 20000 };

static int filters_made, keys_denied;

static void nothing(void* state) {
  (void)state;
}

static const char* name_of(void* state) {
  return state;
}

static uint8_t mix(const char* key, size_t length) {
  uint32_t mixed = 17;
  for (size_t index = 0; index < length; index++) mixed = (mixed ^ (uint8_t)key[index]) * 16777619u;
  return (uint8_t)(mixed >> 24);
}

/* A byte of every key. */
static char* make(void* state, const char* const* keys, const size_t* lengths, int count, size_t* length) {
  (void)state;
  char* filter = malloc((size_t)count);
  for (int index = 0; index < count; index++) filter[index] = (char)mix(keys[index], lengths[index]);
  *length = (size_t)count;
  filters_made++;
  return filter;
}

static uint8_t may_match(void* state, const char* key, size_t length, const char* filter, size_t filter_length) {
  (void)state;
  int matches = memchr(filter, mix(key, length), filter_length) != NULL;
  keys_denied += !matches;
  return (uint8_t)matches;
}

static int reversed(void* state, const char* a, size_t a_length, const char* b, size_t b_length) {
  (void)state;
  int order = memcmp(b, a, a_length < b_length ? a_length : b_length);
  return order != 0 ? order : (a_length < b_length) - (a_length > b_length);
}

static void stop_on(char* error) {
  if (error != NULL) {
    fprintf(stderr, "%s\n", error);
    exit(1);
  }
}

static void write_all(leveldb_options_t* options, const char* directory) {
  char* error = NULL;
  leveldb_writeoptions_t* writing = leveldb_writeoptions_create();
  leveldb_t* db = leveldb_open(options, directory, &error);
  stop_on(error);
  for (int index = 0; index < ENTRIES; index++) {
    char key[16], value[120];
    snprintf(key, sizeof key, "k%05d", index * 7 % ENTRIES);
    memset(value, key[5], sizeof value);
    leveldb_put(db, writing, key, strlen(key), value, sizeof value, &error);
    stop_on(error);
  }
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  leveldb_close(db);
  leveldb_writeoptions_destroy(writing);
}

static void read_all(leveldb_options_t* options, const char* directory, const char* what) {
  char* error = NULL;
  leveldb_readoptions_t* reading = leveldb_readoptions_create();
  leveldb_t* db = leveldb_open(options, directory, &error);
  stop_on(error);
  int found = 0, absent = 0, walked = 0;
  keys_denied = 0;
  for (int index = 0; index < ENTRIES; index++) {
    char key[16];
    size_t length;
    snprintf(key, sizeof key, "k%05d", index);
    char* value = leveldb_get(db, reading, key, strlen(key), &length, &error);
    found += value != NULL && length == 120 && value[119] == key[5];
    leveldb_free(value);
    snprintf(key, sizeof key, "k%05d?", index);
    absent += leveldb_get(db, reading, key, strlen(key), &length, &error) == NULL;
    stop_on(error);
  }
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, reading);
  for (leveldb_iter_seek_to_first(iterator); leveldb_iter_valid(iterator); leveldb_iter_next(iterator)) walked++;
  leveldb_iter_get_error(iterator, &error);
  stop_on(error);
  leveldb_iter_destroy(iterator);
  leveldb_close(db);
  leveldb_readoptions_destroy(reading);
  printf("%s: %d found, %d absent, %d walked, most absent ones denied by our filter: %d\n", what, found, absent,
         walked, keys_denied > ENTRIES / 2);
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  int writes = strcmp(arguments[1], "write") == 0;
  leveldb_filterpolicy_t* own = leveldb_filterpolicy_create("test.mixed", nothing, make, may_match, name_of);
  leveldb_filterpolicy_t* bloom = leveldb_filterpolicy_create_bloom(10);
  leveldb_comparator_t* order = leveldb_comparator_create("test.reversed", nothing, reversed, name_of);
  const char* names[] = {"own", "bloom", "reversed"};
  for (int index = 0; index < 3; index++) {
    char directory[600];
    snprintf(directory, sizeof directory, "%s/%s", arguments[2], names[index]);
    leveldb_options_t* options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, (uint8_t)writes);
    leveldb_options_set_filter_policy(options, index == 1 ? bloom : own);
    if (index == 2) leveldb_options_set_comparator(options, order);
    if (writes) {
      write_all(options, directory);
    } else {
      read_all(options, directory, names[index]);
    }
    leveldb_options_destroy(options);
  }
  if (writes && filters_made == 0) return 3;
  leveldb_filterpolicy_destroy(own);
  leveldb_filterpolicy_destroy(bloom);
  leveldb_comparator_destroy(order);
  printf("done\n");
  return 0;
}
