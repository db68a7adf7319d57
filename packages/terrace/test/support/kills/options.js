// Options with which a few kilobytes exercise every part of the machinery.

export const options = {
  valueEncoding: 'buffer',
  writeBufferSize: 32 << 10,
  maxFileSize: 16 << 10,
  blockSize: 512,
  cacheSize: 64 << 10,
  maxOpenFiles: 16
}
