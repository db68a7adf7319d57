// What Node asks of the C++ library of GCC 13, for that of GCC 9, which has all the rest. prepare.sh tells why it gets the older one.

#include <stdlib.h>
#include <string.h>

/* std::__throw_bad_array_new_length() */
void _ZSt28__throw_bad_array_new_lengthv(void) { abort(); }

/* std::string::_M_replace_cold(place, old, text, length, tail): puts `text` in place of `old` bytes that `tail` more follow. The text
   may be a part of the same string. */
void _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm(
    void *self, char *place, size_t old, const char *text, size_t length, size_t tail) {
  (void)self;
  char *copy = malloc(length + 1);
  if (copy == NULL) abort();
  memcpy(copy, text, length);
  memmove(place + length, place + old, tail);
  memcpy(place, copy, length);
  free(copy);
}

/* std::stringbuf::str() const &, which is str() const under a newer name. */
#define NEW_STR "_ZNKRSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv"
#define OLD_STR "_ZNKSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv"
__asm__(".globl " NEW_STR "\n.type " NEW_STR ", @function\n" NEW_STR ":\njmp " OLD_STR "@PLT\n");
