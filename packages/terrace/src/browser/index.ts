export type { RepairReport } from '../repair-report.js'
export { Level } from './level.js'
export { MemoryLevel } from './memory-level.js'
export type { DatabaseOptions, OpenOptions, Storage } from './store-options.js'
export type {
  ExportOptions,
  ImportFile,
  ImportOptions,
  ImportSource,
  TransferProgress
} from './transfer-options.js'
