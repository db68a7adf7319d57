// Random numbers as Rust's library asks Windows for them (`ProcessPrng`). Windows 10 and later have it, wine 8 has not.

#include <windows.h>
#include <ntsecapi.h>

#define PIECE_BYTES 0x40000000

__declspec(dllexport) BOOL WINAPI ProcessPrng(unsigned char *bytes, SIZE_T size) {
  while (size > 0) {
    ULONG piece = size > PIECE_BYTES ? PIECE_BYTES : (ULONG)size;
    if (!RtlGenRandom(bytes, piece)) return FALSE;
    bytes += piece;
    size -= piece;
  }
  return TRUE;
}
