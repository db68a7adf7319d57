/** In a page, in place of `node.ts`: a browser has no streams of Node. */

import { codedError } from '../errors.js'

class Unsupported {
  constructor() {
    throw codedError(
      'STREAM_NOT_SUPPORTED',
      'Node.js streams are not available in browsers: use webReadable(), webReadableKeys(), webReadableValues() or webWritable()'
    )
  }
}

export { Unsupported as LevelReadable, Unsupported as LevelWritable }
