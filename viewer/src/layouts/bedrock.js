/**
 * A world of Minecraft Bedrock. Parts of a chunk have the keys x, z (4 bytes each, little-endian), the dimension unless it is the Overworld
 * (4 bytes), a tag, and for a piece of terrain its height (1 byte). All other keys are names.
 */

import { startsWith, textOf, utf8 } from '../bytes.js'
import { nbtOf } from '../values/nbt.js'
import { plain, prefixGroup } from './plain.js'
import { Reader } from './reader.js'

const TAGS = {
  43: 'Data3D',
  44: 'Version',
  45: 'Data2D',
  46: 'Data2DLegacy',
  47: 'SubChunkPrefix',
  48: 'LegacyTerrain',
  49: 'BlockEntity',
  50: 'Entity',
  51: 'PendingTicks',
  52: 'LegacyBlockExtraData',
  53: 'BiomeState',
  54: 'FinalizedState',
  55: 'ConversionData',
  56: 'BorderBlocks',
  57: 'HardcodedSpawners',
  58: 'RandomTicks',
  59: 'CheckSums',
  60: 'GenerationSeed',
  61: 'GeneratedPreCavesAndCliffsBlending',
  62: 'BlendingBiomeHeight',
  63: 'MetaDataHash',
  64: 'BlendingData',
  65: 'ActorDigestVersion',
  118: 'LegacyVersion'
}

const DIMENSIONS = ['Overworld', 'Nether', 'End']
const CHUNK_BYTES = 8
const ACTOR = utf8('actorprefix')
const DIGEST = utf8('digp')

/** Names that only a world has. */
const NAMES = [
  '~local_player',
  'AutonomousEntities',
  'BiomeData',
  'LevelChunkMetaDataDictionary',
  'mobevents'
]

/** What part of which chunk a key is of; undefined if it is a name. */
export function chunkPart(key) {
  const hasDimension = key.length >= 13
  const tagAt = hasDimension ? 12 : CHUNK_BYTES
  const tag = TAGS[key[tagAt]]
  const isPiece = key.length === tagAt + 2
  if (tag === undefined || (key.length !== tagAt + 1 && !(isPiece && tag === 'SubChunkPrefix')))
    return undefined
  const reader = new Reader(key)
  const [x, z] = [reader.int32(), reader.int32()]
  const dimension = hasDimension ? reader.int32() : 0
  if (dimension < 0 || dimension > 1000) return undefined
  const part = { x, z, dimension: DIMENSIONS[dimension] ?? `dimension ${dimension}`, tag }
  return isPiece ? { ...part, y: (key[tagAt + 1] << 24) >> 24 } : part
}

export const bedrockLayout = {
  id: 'bedrock',
  title: 'World of Minecraft Bedrock',

  /** By its names, or where most of the first keys are of chunks. */
  recognises: ({ order, keys, names }) =>
    order !== 'idb_cmp1' &&
    (names.some((name) => NAMES.includes(name)) ||
      (keys.length > 0 && keys.filter((key) => chunkPart(key) !== undefined).length > keys.length / 2)),

  /** Names that {@link recognises} asks for. */
  names: NAMES,

  grouping(node, first, last) {
    if (node.prefix !== undefined) return plain.grouping(node, first, last)
    return {
      groupOf(key) {
        const part = chunkPart(key)
        if (part !== undefined) {
          return { ...prefixGroup(key, CHUNK_BYTES, 0), label: `chunk ${part.x}, ${part.z}`, kind: 'chunk' }
        }
        const prefix = [ACTOR, DIGEST].find((prefix) => startsWith(key, prefix))
        if (prefix !== undefined) return prefixGroup(key, prefix.length, 0)
        const end = /^(?:[A-Za-z]+_)/.exec(textOf(key) ?? '')?.[0].length
        return end === undefined ? undefined : prefixGroup(key, end, 0)
      }
    }
  },

  describe(key) {
    const part = chunkPart(key)
    if (part === undefined) return undefined
    const piece = part.y === undefined ? '' : ` y ${part.y}`
    return `${part.tag}${piece} · chunk ${part.x}, ${part.z} · ${part.dimension}`
  },

  decode(_key, value) {
    const json = value.length === 0 ? undefined : nbtOf(value)
    return json === undefined ? undefined : { title: 'NBT', json }
  }
}
