/** Returns the text of a part of some bytes, which lmdb may have given another length than they have. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.prototype.utf8Slice.call(bytes, start, end)
}
