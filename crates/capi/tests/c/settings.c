/* Part of the transcript: every option, caches, the environment. See transcript.h. */

#include "transcript.h"

enum { ENTRIES = 3000, VALUE_LENGTH = 300 };

static void try_options(const char* what, setup_t setup, const char* directory) {
  char* error = NULL;
  printf("%s\n", what);
  leveldb_t* db = open_or_exit(setup, directory);
  fill(db, setup, ENTRIES, VALUE_LENGTH);
  say_filled(db, setup, ENTRIES, VALUE_LENGTH);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  say_filled(db, setup, ENTRIES, VALUE_LENGTH);
  leveldb_close(db);
  db = open_or_exit(setup, directory);
  say_filled(db, setup, ENTRIES, VALUE_LENGTH);
  leveldb_close(db);
  leveldb_destroy_db(setup.options, directory, &error);
  say_outcome("destroyed", &error);
}

void settings(const char* directory) {
  setup_t setup = set_up();
  try_options("defaults", setup, directory);

  leveldb_options_set_compression(setup.options, leveldb_no_compression);
  leveldb_options_set_write_buffer_size(setup.options, 100000);
  leveldb_options_set_max_file_size(setup.options, 1 << 20);
  leveldb_options_set_block_size(setup.options, 1024);
  leveldb_options_set_block_restart_interval(setup.options, 1);
  leveldb_options_set_max_open_files(setup.options, 100);
  leveldb_options_set_paranoid_checks(setup.options, 1);
  leveldb_options_set_error_if_exists(setup.options, 0);
  leveldb_options_set_info_log(setup.options, NULL);
  leveldb_readoptions_set_verify_checksums(setup.reading, 1);
  leveldb_readoptions_set_fill_cache(setup.reading, 0);
  try_options("small", setup, directory);

  leveldb_options_set_compression(setup.options, leveldb_snappy_compression);
  leveldb_options_set_write_buffer_size(setup.options, 64 << 20);
  leveldb_options_set_max_file_size(setup.options, 64 << 20);
  leveldb_options_set_block_size(setup.options, 1 << 20);
  leveldb_options_set_block_restart_interval(setup.options, 1000);
  leveldb_options_set_max_open_files(setup.options, 50000);
  leveldb_readoptions_set_verify_checksums(setup.reading, 0);
  leveldb_readoptions_set_fill_cache(setup.reading, 1);
  try_options("large", setup, directory);

  leveldb_options_set_write_buffer_size(setup.options, 0);
  leveldb_options_set_max_file_size(setup.options, 0);
  leveldb_options_set_block_size(setup.options, 0);
  leveldb_options_set_max_open_files(setup.options, -5);
  try_options("out of bounds", setup, directory);

  leveldb_filterpolicy_t* bloom = leveldb_filterpolicy_create_bloom(10);
  leveldb_options_set_filter_policy(setup.options, bloom);
  try_options("with a Bloom filter", setup, directory);
  leveldb_options_set_filter_policy(setup.options, NULL);
  leveldb_filterpolicy_destroy(bloom);

  leveldb_env_t* env = leveldb_create_default_env();
  leveldb_options_set_env(setup.options, env);
  try_options("with an environment", setup, directory);
  tear_down(setup);
  leveldb_env_destroy(env);
}

void caches(const char* directory) {
  char other_directory[600];
  char* error = NULL;
  snprintf(other_directory, sizeof other_directory, "%s-other", directory);
  const size_t capacities[] = {1 << 20, 1000, 0};
  for (int index = 0; index < 3; index++) {
    setup_t setup = set_up();
    leveldb_cache_t* cache = leveldb_cache_create_lru(capacities[index]);
    leveldb_options_set_cache(setup.options, cache);
    leveldb_t* db = open_or_exit(setup, directory);
    leveldb_t* other = open_or_exit(setup, other_directory);
    fill(db, setup, ENTRIES, VALUE_LENGTH);
    fill(other, setup, ENTRIES / 2, VALUE_LENGTH);
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    leveldb_compact_range(other, NULL, 0, NULL, 0);
    printf("two databases share a cache of %zu bytes\n", capacities[index]);
    for (int round = 0; round < 2; round++) {
      say_filled(db, setup, ENTRIES, VALUE_LENGTH);
      say_filled(other, setup, ENTRIES / 2, VALUE_LENGTH);
    }
    leveldb_close(db);
    say_filled(other, setup, ENTRIES / 2, VALUE_LENGTH);
    leveldb_close(other);
    leveldb_cache_destroy(cache);
    leveldb_destroy_db(setup.options, other_directory, &error);
    say_outcome("destroyed", &error);
    tear_down(setup);
  }
}

void environment(void) {
  leveldb_env_t* env = leveldb_create_default_env();
  char* directory = leveldb_env_get_test_directory(env);
  printf("directory for tests: %s\n", directory);
  leveldb_free(directory);
  leveldb_env_destroy(env);
}
