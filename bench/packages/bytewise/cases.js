// The cases that are measured: keys of several shapes, and the encodings that are compared.

import original from 'bytewise'
import charwise from 'charwise'
import * as orderedBinary from 'ordered-binary'
import { bytewise } from 'terrace-bytewise'

/** Makes key number `i` of each shape. No two keys of a shape are the same. */
export const SHAPES = {
  "['user', 17, 'mail17@example.org', true, a date, -25.5]": (i) => [
    'user',
    i,
    `mail${i}@example.org`,
    true,
    new Date(1_700_000_000_000 + i * 1000),
    -1.5 * i
  ],
  "['user', 17, 'mail17@example.org', true, -25.5]": (i) => [
    'user',
    i,
    `mail${i}@example.org`,
    true,
    -1.5 * i
  ],
  "['user', 17]": (i) => ['user', i],
  "['user', 17, ['mail', 'work']]": (i) => ['user', i, ['mail', 'work']],
  "'user/17/name'": (i) => `user/${i}/name`,
  "['Zoë Ålesund 17', 'ключ']": (i) => [`Zoë Ålesund ${i}`, 'ключ'],
  25.5: (i) => i * 1.5,
  '16 bytes': (i) => Buffer.from(String(i).padStart(16, '0'), 'latin1'),
  'a string of 1,000 characters': (i) => String(i).padStart(1000, 'x')
}

/** How each encoding turns a key into bytes, and bytes into a key. */
export const ENCODINGS = {
  'terrace-bytewise': bytewise,
  bytewise: original,
  // It makes strings, but a store has bytes. These two calls are what level-transcoder adds.
  charwise: {
    encode: (key) => Buffer.from(charwise.encode(key), 'utf8'),
    decode: (bytes) => charwise.decode(bytes.toString('utf8'))
  },
  'ordered-binary': {
    encode: (key) => orderedBinary.toBufferKey(key),
    decode: (bytes) => orderedBinary.fromBufferKey(bytes)
  }
}
