export type { RepairReport } from '../repair-report.js'
export { Level } from './level.js'
export type { DatabaseOptions, OpenOptions, Storage, StorageChoice } from './level-options.js'
export { MemoryLevel } from './memory/memory-level.js'
export type {
  ExportOptions,
  ImportFile,
  ImportOptions,
  ImportSource,
  TransferProgress
} from './transfer-options.js'
