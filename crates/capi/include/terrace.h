/* What Terrace can do beyond LevelDB's interface, for databases opened by it. The rules of leveldb/c.h hold. */

#ifndef TERRACE_H
#define TERRACE_H

#include "leveldb/c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For leveldb_options_set_compression: smaller than snappy, and slower to write. LevelDB 1.23 and older cannot read
   such a database. */
enum { terrace_zstd_compression = 2 };

/* Whether tables are read through a mapping of the file into memory. Default: true. It is faster; but where the device
   fails, or another program cuts a table, a read ends the process by SIGBUS. With 0 such a read fails with an error. */
void terrace_options_set_map_tables(leveldb_options_t* options, unsigned char value);

/* Whether writes are stored into a mapping of the log where the file system is fit for it (on Linux: ext4 and tmpfs).
   Default: true. They are as durable either way, and none ends the process. With 0 each write is a call to the system,
   which is slower, and the library installs no handler of SIGBUS. */
void terrace_options_set_map_log(leveldb_options_t* options, unsigned char value);

/* The version of this library, such as "0.1.0". It is not to be freed. */
const char* terrace_version(void);

/* Opens a database to read only: without its lock, without changing a byte, also beside a running writer. It shows the
   state of this moment, until it is refreshed. Writes fail. */
leveldb_t* terrace_open_read_only(const leveldb_options_t* options, const char* name, char** errptr);

/* Shows in a database that was opened to read only what others have written since. Iterators and snapshots that are there
   keep the state that they show. If it fails, the state that was shown before stays. With a database that is open to write it does nothing. */
void terrace_refresh(leveldb_t* db, char** errptr);

/* leveldb_close that tells what went wrong while closing, or in the background before. The database is closed all the
   same. */
void terrace_close(leveldb_t* db, char** errptr);

/* Writes what is in memory to tables, and returns when that is done. */
void terrace_flush(leveldb_t* db, char** errptr);

/* Writes a consistent copy to the directory `target`, which must be empty or not exist. Tables become hard links where
   that is possible, so that it is quick and takes little space. It survives a loss of power once this returns. */
void terrace_checkpoint(leveldb_t* db, const char* target, char** errptr);

/* Reads every table from end to end and checks checksums, order and filters. Fails with the first damage found. */
void terrace_verify(leveldb_t* db, char** errptr);

enum { terrace_level_count = 7 };

/* Numbers about a level. Jobs are flushes and compactions into it since the database was opened. */
typedef struct terrace_level_statistics_t {
  uint64_t files;
  uint64_t size_bytes;
  uint64_t jobs;
  uint64_t micros;
  uint64_t read_bytes;
  uint64_t written_bytes;
} terrace_level_statistics_t;

/* Numbers about a database. */
typedef struct terrace_statistics_t {
  terrace_level_statistics_t levels[terrace_level_count];
  uint64_t memtable_bytes;
  uint64_t block_cache_bytes; /* of all databases that share the cache */
  uint64_t sealed_memtables;  /* that wait to become tables */
  uint64_t compactions_running;
  uint64_t last_sequence; /* of the newest write */
} terrace_statistics_t;

/* Fills *statistics. `size` is sizeof(terrace_statistics_t): a program that was compiled with an older or newer header
   gets what both know, and zeros. */
void terrace_statistics(leveldb_t* db, terrace_statistics_t* statistics, size_t size);

#ifdef __cplusplus
}
#endif

#endif
