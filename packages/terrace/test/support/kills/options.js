// Options in which a few kilobytes make every part of the machinery run.

export const options = {
  valueEncoding: 'buffer',
  writeBufferSize: 32 << 10,
  maxFileSize: 16 << 10,
  blockSize: 512,
  cacheSize: 64 << 10,
  maxOpenFiles: 16
}
