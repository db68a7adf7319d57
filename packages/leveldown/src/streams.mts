/** levelup's streams as an ES module. */

import streams from './streams.js'

export type { LevelStreams, ReadStreamOptions, WriteStreamOptions } from './streams.js'
export const { addStreams } = streams
