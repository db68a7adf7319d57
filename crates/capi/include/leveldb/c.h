/* LevelDB's C interface, as Terrace provides it.

   Names, signatures and ownership rules are those of LevelDB 1.23, so that a program for one library works with the
   other, recompiled or not. The implementation is Terrace's, which reads and writes the same files.

   Rules
   - Types are opaque; programs only hold pointers to them. An object from a function named ..._create, leveldb_open or
     leveldb_writebatch_create is released exactly once, by its function named ..._destroy, leveldb_close or
     leveldb_release_snapshot.
   - Keys and values are bytes with a length. They are copied; the library keeps no pointer to the program's memory.
   - A function that can fail takes a `char** errptr` as its last argument. *errptr must be NULL or a string from malloc.
     On success it is unchanged. On failure the old string is freed, and *errptr is a new string that ends with a zero
     and begins with the kind of the failure: "NotFound: ", "Corruption: ", "Not implemented: ", "Invalid argument: " or
     "IO error: ". The program frees it with leveldb_free.
   - A boolean is a uint8_t: 0 is false, anything else is true.
   - Several threads may use a database and its snapshots at once. An iterator, a batch or options may be used by only one
     thread at a time.
   - Options, comparators, filter policies, caches and environments may be used for several databases. They must not be
     destroyed before those databases are closed.

   What Terrace promises beyond LevelDB
   - Iterators and snapshots may be destroyed after their database was closed, in any order. An iterator of a closed
     database is not valid, and leveldb_iter_get_error says so. Until the last of them is destroyed, the leveldb_t may
     still be used, too: its functions fail.
   - A NULL where a pointer is required is an "Invalid argument"; if the function has no errptr, it does nothing.
   - A comparator or a filter policy that is destroyed too early lives on until the databases that use it are closed. */

#ifndef TERRACE_LEVELDB_C_H
#define TERRACE_LEVELDB_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leveldb_t leveldb_t;
typedef struct leveldb_cache_t leveldb_cache_t;
typedef struct leveldb_comparator_t leveldb_comparator_t;
typedef struct leveldb_env_t leveldb_env_t;
typedef struct leveldb_filelock_t leveldb_filelock_t;
typedef struct leveldb_filterpolicy_t leveldb_filterpolicy_t;
typedef struct leveldb_iterator_t leveldb_iterator_t;
typedef struct leveldb_logger_t leveldb_logger_t;
typedef struct leveldb_options_t leveldb_options_t;
typedef struct leveldb_randomfile_t leveldb_randomfile_t;
typedef struct leveldb_readoptions_t leveldb_readoptions_t;
typedef struct leveldb_seqfile_t leveldb_seqfile_t;
typedef struct leveldb_snapshot_t leveldb_snapshot_t;
typedef struct leveldb_writablefile_t leveldb_writablefile_t;
typedef struct leveldb_writebatch_t leveldb_writebatch_t;
typedef struct leveldb_writeoptions_t leveldb_writeoptions_t;

/* Databases */

/* Opens the database in the directory `name`. NULL on failure. */
leveldb_t* leveldb_open(const leveldb_options_t* options, const char* name, char** errptr);

/* Closes the database, after the calls of other threads have returned. */
void leveldb_close(leveldb_t* db);

/* Stores a value. */
void leveldb_put(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen,
                 const char* val, size_t vallen, char** errptr);

/* Removes a key. A missing key is not a failure. */
void leveldb_delete(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen,
                    char** errptr);

/* Applies all operations of a batch or none. The batch is unchanged. */
void leveldb_write(leveldb_t* db, const leveldb_writeoptions_t* options, leveldb_writebatch_t* batch,
                   char** errptr);

/* Returns a copy of the value, for leveldb_free, and stores its length in *vallen. NULL and 0 if there is none, or on
   failure. */
char* leveldb_get(leveldb_t* db, const leveldb_readoptions_t* options, const char* key, size_t keylen,
                  size_t* vallen, char** errptr);

/* Creates an iterator over the current state, or over that of the options' snapshot. It is not yet at an entry. Never
   NULL: if it could not be made, leveldb_iter_get_error says why. */
leveldb_iterator_t* leveldb_create_iterator(leveldb_t* db, const leveldb_readoptions_t* options);

/* Keeps the current state, to read from it later. */
const leveldb_snapshot_t* leveldb_create_snapshot(leveldb_t* db);
void leveldb_release_snapshot(leveldb_t* db, const leveldb_snapshot_t* snapshot);

/* Returns a property of the database as a string for leveldb_free; NULL for an unknown name. The names are
   "leveldb.num-files-at-level<N>", "leveldb.stats", "leveldb.sstables" and "leveldb.approximate-memory-usage". */
char* leveldb_property_value(leveldb_t* db, const char* propname);

/* Estimates for each range, from its start to before its limit, how many bytes its entries take on disk. Entries that
   are still in memory do not count. */
void leveldb_approximate_sizes(leveldb_t* db, int num_ranges, const char* const* range_start_key,
                               const size_t* range_start_key_len, const char* const* range_limit_key,
                               const size_t* range_limit_key_len, uint64_t* sizes);

/* Compacts the keys from start_key to limit_key, both included. NULL is an open end. */
void leveldb_compact_range(leveldb_t* db, const char* start_key, size_t start_key_len, const char* limit_key,
                           size_t limit_key_len);

/* Removes the database in the directory `name`. Other files in the directory stay. A missing database is
   not a failure. */
void leveldb_destroy_db(const leveldb_options_t* options, const char* name, char** errptr);

/* Makes a damaged database openable again, with everything that is intact. Damaged files are kept in its directory
   `lost`. */
void leveldb_repair_db(const leveldb_options_t* options, const char* name, char** errptr);

/* Iterators. The bytes of a key and a value are valid until the iterator is moved or destroyed. */

void leveldb_iter_destroy(leveldb_iterator_t*);

/* Whether the iterator is at an entry. Functions that return the entry, or step from it, require one. */
uint8_t leveldb_iter_valid(const leveldb_iterator_t*);
void leveldb_iter_seek_to_first(leveldb_iterator_t*);
void leveldb_iter_seek_to_last(leveldb_iterator_t*);

/* Moves to the first key at or after k. */
void leveldb_iter_seek(leveldb_iterator_t*, const char* k, size_t klen);
void leveldb_iter_next(leveldb_iterator_t*);
void leveldb_iter_prev(leveldb_iterator_t*);
const char* leveldb_iter_key(const leveldb_iterator_t*, size_t* klen);
const char* leveldb_iter_value(const leveldb_iterator_t*, size_t* vlen);

/* Reports the first failure that the iterator met. */
void leveldb_iter_get_error(const leveldb_iterator_t*, char** errptr);

/* Batches. An operation that cannot be added (a key or a batch that is too large) makes leveldb_write fail. */

leveldb_writebatch_t* leveldb_writebatch_create(void);
void leveldb_writebatch_destroy(leveldb_writebatch_t*);
void leveldb_writebatch_clear(leveldb_writebatch_t*);
void leveldb_writebatch_put(leveldb_writebatch_t*, const char* key, size_t klen, const char* val, size_t vlen);
void leveldb_writebatch_delete(leveldb_writebatch_t*, const char* key, size_t klen);

/* Calls `put` or `deleted` for each operation, in their order. */
void leveldb_writebatch_iterate(const leveldb_writebatch_t*, void* state,
                                void (*put)(void*, const char* k, size_t klen, const char* v, size_t vlen),
                                void (*deleted)(void*, const char* k, size_t klen));

/* Adds the operations of `source` after those of `destination`. */
void leveldb_writebatch_append(leveldb_writebatch_t* destination, const leveldb_writebatch_t* source);

/* Options of a database. The defaults are LevelDB's. */

leveldb_options_t* leveldb_options_create(void);
void leveldb_options_destroy(leveldb_options_t*);

/* Default: byte by byte. */
void leveldb_options_set_comparator(leveldb_options_t*, leveldb_comparator_t*);

/* Default: none. */
void leveldb_options_set_filter_policy(leveldb_options_t*, leveldb_filterpolicy_t*);

/* Default: false. */
void leveldb_options_set_create_if_missing(leveldb_options_t*, uint8_t);

/* Default: false. */
void leveldb_options_set_error_if_exists(leveldb_options_t*, uint8_t);

/* Default: false. If true, a log that a power cut left incomplete is refused; other damage is always refused. */
void leveldb_options_set_paranoid_checks(leveldb_options_t*, uint8_t);

/* Default: the operating system's. */
void leveldb_options_set_env(leveldb_options_t*, leveldb_env_t*);

/* No effect: the interface has no way to create a logger. The database writes its file LOG. */
void leveldb_options_set_info_log(leveldb_options_t*, leveldb_logger_t*);

/* Number of bytes kept in memory before they become a table. Default: 4 MiB. From 64 KiB to 1 GiB. */
void leveldb_options_set_write_buffer_size(leveldb_options_t*, size_t);

/* Default: 1000. From 74 to 50,000. */
void leveldb_options_set_max_open_files(leveldb_options_t*, int);

/* Default: a cache of 8 MiB of the database's own. */
void leveldb_options_set_cache(leveldb_options_t*, leveldb_cache_t*);

/* Size of a block before compression, in bytes. Default: 4 KiB. From 1 KiB to 4 MiB. */
void leveldb_options_set_block_size(leveldb_options_t*, size_t);

/* Default: 16. Opening the database fails if it is less than 1. */
void leveldb_options_set_block_restart_interval(leveldb_options_t*, int);

/* Size of a table at which the next one begins, in bytes. Default: 2 MiB. From 1 MiB to 1 GiB. */
void leveldb_options_set_max_file_size(leveldb_options_t*, size_t);

enum { leveldb_no_compression = 0, leveldb_snappy_compression = 1 };

/* Default: snappy. Opening the database fails if the value is unknown. */
void leveldb_options_set_compression(leveldb_options_t*, int);

/* Orders of keys. `compare` returns a number below, at or above 0, and must always be the same total order; the database
   stores its name. Any thread may call it, several at once, while a database with it is open. It must return (no
   exception, no longjmp) and must not call this library. A function that is not an order causes failures ("Corruption")
   and may hide entries; it does not harm the program. `destructor` is called at the end. */
leveldb_comparator_t* leveldb_comparator_create(
    void* state, void (*destructor)(void*),
    int (*compare)(void*, const char* a, size_t alen, const char* b, size_t blen), const char* (*name)(void*));
void leveldb_comparator_destroy(leveldb_comparator_t*);

/* Filters, which can tell that a key is not in a part of a table. `create_filter` makes a filter of some keys, in memory
   from malloc, which this library frees; `key_may_match` must not deny a key that the filter was made of. The rules of
   comparators apply to both. If `create_filter` returns NULL or a length of 0, the table gets no filters. */
leveldb_filterpolicy_t* leveldb_filterpolicy_create(
    void* state, void (*destructor)(void*),
    char* (*create_filter)(void*, const char* const* key_array, const size_t* key_length_array, int num_keys,
                           size_t* filter_length),
    uint8_t (*key_may_match)(void*, const char* key, size_t length, const char* filter, size_t filter_length),
    const char* (*name)(void*));
void leveldb_filterpolicy_destroy(leveldb_filterpolicy_t*);

/* LevelDB's Bloom filter; 10 bits per key avoid 99 of 100 needless reads. */
leveldb_filterpolicy_t* leveldb_filterpolicy_create_bloom(int bits_per_key);

/* Options of a read */

leveldb_readoptions_t* leveldb_readoptions_create(void);
void leveldb_readoptions_destroy(leveldb_readoptions_t*);

/* Default: true, unlike in LevelDB. A block is verified when it is first read. */
void leveldb_readoptions_set_verify_checksums(leveldb_readoptions_t*, uint8_t);

/* Default: true. */
void leveldb_readoptions_set_fill_cache(leveldb_readoptions_t*, uint8_t);

/* Default: NULL, the current state. Options with a snapshot keep its state after its release; set NULL before that. */
void leveldb_readoptions_set_snapshot(leveldb_readoptions_t*, const leveldb_snapshot_t*);

/* Options of a write */

leveldb_writeoptions_t* leveldb_writeoptions_create(void);
void leveldb_writeoptions_destroy(leveldb_writeoptions_t*);

/* Default: false: a write survives the death of the process. If true, it also survives a power cut. */
void leveldb_writeoptions_set_sync(leveldb_writeoptions_t*, uint8_t);

/* Block caches, for one database or several */

leveldb_cache_t* leveldb_cache_create_lru(size_t capacity);
void leveldb_cache_destroy(leveldb_cache_t* cache);

/* Environments */

leveldb_env_t* leveldb_create_default_env(void);
void leveldb_env_destroy(leveldb_env_t*);

/* Returns a directory for tests, created if missing, as a string for leveldb_free. */
char* leveldb_env_get_test_directory(leveldb_env_t*);

/* Frees what a function of this library returned. NULL does nothing. */
void leveldb_free(void* ptr);

/* The version of LevelDB whose interface this is: 1 and 23. */
int leveldb_major_version(void);
int leveldb_minor_version(void);

#ifdef __cplusplus
}
#endif

#endif
