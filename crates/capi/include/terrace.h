/* What Terrace offers beyond LevelDB's interface, for databases opened through it. The rules of leveldb/c.h apply. */

#ifndef TERRACE_H
#define TERRACE_H

#include "leveldb/c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For leveldb_options_set_compression: smaller than snappy, but slower to write. LevelDB 1.23 and older cannot read
   such a database. */
enum { terrace_zstd_compression = 2 };

/* Whether tables are read through a mapping of the file into memory. Default: true. That is faster, but if the device
   fails, or another program truncates a table, a read ends the process by SIGBUS. With 0 such a read returns an error. */
void terrace_options_set_map_tables(leveldb_options_t* options, unsigned char value);

/* Whether writes are stored into a mapping of the log if the file system is suitable (on Linux: ext4 and tmpfs).
   Default: true. They are equally durable either way, and none ends the process. With 0 each write is a system call,
   which is slower, and the library installs no handler for SIGBUS. */
void terrace_options_set_map_log(leveldb_options_t* options, unsigned char value);

/* The version of this library, such as "0.1.0". Do not free it. */
const char* terrace_version(void);

/* Opens a database read-only: without its lock and without changing a byte, even while another process writes. It shows
   the state of this moment until it is refreshed. Writes fail. */
leveldb_t* terrace_open_read_only(const leveldb_options_t* options, const char* name, char** errptr);

/* Makes a database that was opened read-only show what others have written since. Existing iterators and snapshots keep
   the state that they show. A failure leaves the shown state unchanged. Does nothing to a database that is open for
   writing. */
void terrace_refresh(leveldb_t* db, char** errptr);

/* Like leveldb_close, but reports what went wrong while closing, or before that in the background. The database is
   closed in any case. */
void terrace_close(leveldb_t* db, char** errptr);

/* Writes everything in memory to tables, and returns when that is done. */
void terrace_flush(leveldb_t* db, char** errptr);

/* Writes a consistent copy to the directory `target`, which must be empty or not exist. Tables become hard links if
   possible, so that the copy is fast and takes little space. The copy survives a power cut once this returns. */
void terrace_checkpoint(leveldb_t* db, const char* target, char** errptr);

/* Reads every table from end to end and checks checksums, order and filters. Fails with the first damage found. */
void terrace_verify(leveldb_t* db, char** errptr);

/* The writes in logs that the open left out, because a loss of power seems to have taken a part of them, or because logs
   that another engine wrote are missing: a line for each log, to be freed with leveldb_free. NULL if there are none,
   which is usual. */
char* terrace_left_out(leveldb_t* db);

enum { terrace_level_count = 7 };

/* Numbers about a level. Jobs are flushes and compactions into the level since the database was opened. */
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
  uint64_t sealed_memtables;  /* waiting to become tables */
  uint64_t compactions_running;
  uint64_t last_sequence; /* of the newest write */
} terrace_statistics_t;

/* Fills *statistics. `size` is sizeof(terrace_statistics_t): a program compiled with an older or newer header gets
   the numbers that both know, and zeros for the others. */
void terrace_statistics(leveldb_t* db, terrace_statistics_t* statistics, size_t size);

#ifdef __cplusplus
}
#endif

#endif
