import { LevelDOWN, type LevelDownConstructor } from './leveldown.js'
import type * as types from './types.js'

declare namespace leveldown {
  export type Bytes = types.Bytes
  export type LevelDown = types.LevelDownOnDisk
  export type LevelDownOpenOptions = types.LevelDownOpenOptions
}

const leveldown: LevelDownConstructor = LevelDOWN

export = leveldown
