/* Shared by the parts of `beyond`: cases that LevelDB leaves undefined, and the functions of terrace.h. */

#ifndef BEYOND_H
#define BEYOND_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrace.h>

/* Ends the program unless `condition` holds. */
#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* Ends the program unless *error begins like this; frees it. With NULL, ends the program unless there is no error. */
void check_error(const char* file, int line, char** error, const char* beginning);
#define FAILS(error, beginning) check_error(__FILE__, __LINE__, &(error), beginning)
#define WORKS(error) check_error(__FILE__, __LINE__, &(error), NULL)

typedef struct {
  leveldb_options_t* options;
  leveldb_readoptions_t* reading;
  leveldb_writeoptions_t* writing;
} setup_t;

setup_t set_up(void);
void tear_down(setup_t setup);
leveldb_t* must_open(setup_t setup, const char* directory);
void must_put(leveldb_t* db, setup_t setup, const char* key, const char* value);

/* Whether the value of `key` is `value`; with NULL, whether there is none. */
int has(leveldb_t* db, setup_t setup, const char* key, const char* value);

/* The parts. Each works in directories whose names begin with `directory`. */
void lifetimes(const char* directory);
void callback_lifetimes(const char* directory);
void missing_pointers(const char* directory);
void bad_options(const char* directory);
void names_that_are_no_text(const char* directory);
void odd_batches(const char* directory);
void no_order(const char* directory);
void bad_filters(const char* directory);
void many_threads(const char* directory);
void terrace_functions(const char* directory);
void mappings(const char* directory);

#endif
