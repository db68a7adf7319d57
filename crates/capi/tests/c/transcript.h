/* Shared by the parts of the transcript, one file each. `main` is in transcript.c.

   A transcript contains nothing that may differ between two correct implementations: no times, no paths, no counts of
   background work, and only the kind of an error. */

#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include <inttypes.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts. Each works in its `directory`, and leaves it to be destroyed. */
void basics(const char* directory);
void batches(const char* directory);
void iterators(const char* directory);
void snapshots(const char* directory);
void settings(const char* directory);
void caches(const char* directory);
void environment(void);
void comparators(const char* directory);
void filters(const char* directory);
void properties(const char* directory);
void sizes(const char* directory);
void opening(const char* directory);
void maintenance(const char* directory);
void walks(const char* directory);

/* Options that most parts need: of a database to create, of reads and of writes. */
typedef struct {
  leveldb_options_t* options;
  leveldb_readoptions_t* reading;
  leveldb_writeoptions_t* writing;
} setup_t;

setup_t set_up(void);
void tear_down(setup_t setup);

/* Opens, or ends the program. */
leveldb_t* open_or_exit(setup_t setup, const char* directory);

/* Writes "what: ok", or the kind of the error, which is freed. */
void say_outcome(const char* what, char** error);

/* The same with the whole message, without the directory's path. */
void say_message(const char* what, char** error, const char* directory);

/* Writes bytes as text, unprintable ones as \xNN. Long text is cut, with its length and a checksum. */
void say_bytes(const char* bytes, size_t length);

/* Writes the result of a get. */
void say_get(leveldb_t* db, setup_t setup, const char* key, size_t length);

/* Puts or deletes strings, or ends the program. */
void put(leveldb_t* db, setup_t setup, const char* key, const char* value);
void erase(leveldb_t* db, setup_t setup, const char* key);

/* Writes the entry that an iterator is at, or that it is at none. */
void say_entry(leveldb_iterator_t* iterator);

/* Writes `count` entries from "k000000" on, with incompressible values. */
void fill(leveldb_t* db, setup_t setup, int count, size_t value_length);

/* The bytes of the value that `fill` wrote for entry `index`. */
void make_value(int index, char* value, size_t length);

/* Writes the number of entries forward and backward, whether those of `fill` are right, and how many get finds. */
void say_filled(leveldb_t* db, setup_t setup, int count, size_t value_length);

#endif
