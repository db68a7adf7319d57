// The cases of tuning.mjs. A case compares variants (options of the database in `db`, of reads in `read`, of terrace-bench in
// `args`) in one or more runs of terrace-bench, and shows what `columns` take out of their results: the best round of a time,
// since other work on the machine only adds to it, and the median of the rest (`isMedian`).

const MIB = 1 << 20
const ENTRIES = '300000'
/** Values of which half repeats, like those of db_bench. */
const LIKE_TEXT = ['--compressible-percent', '50']
const LOADED = ['-n', ENTRIES, '--compacted', ...LIKE_TEXT]

const micros =
  (line) =>
  ({ lines }) =>
    lines.find(({ name }) => name === line)?.microsPerOp
const first = ({ lines: [line] }) => line.microsPerOp
const memory = ({ memory: { peakRssBytes, startRssBytes } }) => (peakRssBytes - startRssBytes) / 1e6
const files = ({ fileBytes }) => fileBytes / 1e6
const loop = ({ lines: [line] }) => line.eventLoop.max

const GET = { name: 'get', workload: 'get', args: LOADED }
const ZIPFIAN = { name: 'zipfian', workload: 'get', args: [...LOADED, '--key-distribution', 'zipfian'] }
const ITERATE = { name: 'iterate', workload: 'iterate', args: LOADED }
const WRITE = {
  name: 'write',
  workload: 'sorted-write',
  args: ['-n', '500000', '--key-order', 'random', ...LIKE_TEXT]
}

const getColumn = { title: 'get, random key, µs', run: 'get', of: first }
const zipfianColumn = { title: 'get, some keys often, µs', run: 'zipfian', of: first }
const iterateColumn = { title: 'iterate, µs per entry', run: 'iterate', of: first }
const writeColumns = [
  { title: 'batch of 1,000, µs per entry', run: 'write', of: first },
  { title: 'p99 of a batch, ms', run: 'write', of: ({ batches }) => batches.p99 },
  { title: 'longest batch, ms', run: 'write', of: ({ batches }) => batches.max, isMedian: true }
]

/** Variants of one option of the database. */
const ofOption = (option, values) =>
  values.map(([name, value]) => ({ name, db: value === undefined ? undefined : { [option]: value } }))

export const CASES = [
  {
    name: 'cacheSize',
    label: 'cacheSize',
    variants: ofOption('cacheSize', [
      ['0', 0],
      ['8 MiB', 8 * MIB],
      ['32 MiB (default)'],
      ['128 MiB', 128 * MIB]
    ]),
    runs: [GET, ZIPFIAN],
    columns: [getColumn, zipfianColumn, { title: 'memory, MB', run: 'get', of: memory, isMedian: true }]
  },
  {
    name: 'writeBufferSize',
    label: 'writeBufferSize',
    variants: ofOption('writeBufferSize', [
      ['1 MiB', MIB],
      ['4 MiB', 4 * MIB],
      ['16 MiB (default)'],
      ['64 MiB', 64 * MIB]
    ]),
    runs: [WRITE],
    columns: [...writeColumns, { title: 'memory, MB', run: 'write', of: memory, isMedian: true }]
  },
  {
    name: 'blockSize',
    label: 'blockSize',
    variants: ofOption('blockSize', [
      ['1 KiB', 1024],
      ['4 KiB (default)'],
      ['16 KiB', 16_384],
      ['64 KiB', 65_536]
    ]),
    runs: [GET, ITERATE],
    columns: [getColumn, iterateColumn, { title: 'files, MB', run: 'get', of: files }]
  },
  {
    name: 'compression',
    label: 'compression',
    variants: ofOption('compression', [['none', 'none'], ['snappy (default)'], ['zstd', 'zstd']]),
    runs: [WRITE, GET, ITERATE],
    columns: [writeColumns[0], getColumn, iterateColumn, { title: 'files, MB', run: 'get', of: files }]
  },
  {
    name: 'preset',
    label: 'preset',
    variants: ofOption('preset', [['embedded (default)'], ['server', 'server']]),
    runs: [WRITE, GET],
    columns: [...writeColumns, getColumn, { title: 'memory, MB', run: 'write', of: memory, isMedian: true }]
  },
  {
    name: 'fillCache',
    label: 'fillCache',
    variants: [true, false].map((fillCache) => ({ name: String(fillCache), read: { fillCache } })),
    runs: [ZIPFIAN, ITERATE],
    columns: [
      zipfianColumn,
      iterateColumn,
      { title: 'memory, iterating, MB', run: 'iterate', of: memory, isMedian: true }
    ]
  },
  {
    name: 'reading',
    label: 'options',
    variants: [
      { name: 'defaults' },
      { name: 'hashIndexPercent: 0', db: { hashIndexPercent: 0 } },
      { name: 'mapTables: false', db: { mapTables: false } }
    ],
    runs: [GET, ITERATE],
    columns: [getColumn, iterateColumn, { title: 'files, MB', run: 'get', of: files }]
  },
  {
    name: 'sync',
    label: 'writes',
    variants: [{ name: 'without' }, { name: 'with `sync`', args: ['--sync'] }],
    runs: [
      { name: 'put 1', workload: 'put', args: ['-n', '5000', '--concurrency', '1'] },
      { name: 'put 64', workload: 'put', args: ['-n', '50000', '--concurrency', '64'] },
      { name: 'batch', workload: 'batch-put', args: ['-n', '200000', '--batch-size', '1000'] }
    ],
    columns: [
      { title: 'put, one after the other, µs', run: 'put 1', of: first },
      { title: 'put, 64 at once, µs', run: 'put 64', of: first },
      { title: 'batch of 1,000, µs per entry', run: 'batch', of: first }
    ]
  },
  {
    name: 'batches',
    label: 'entries per batch',
    variants: ['1', '10', '100', '1000', '10000'].map((size) => ({
      name: Number(size).toLocaleString('en'),
      args: ['--batch-size', size]
    })),
    runs: [
      { name: 'batch', workload: 'batch-put', args: ['-n', '300000'] },
      { name: 'batch with sync', workload: 'batch-put', args: ['-n', '10000', '--sync'] },
      { name: 'loop', workload: 'sustained', args: ['--concurrency', '1', '--seconds', '3'] }
    ],
    columns: [
      { title: 'µs per entry', run: 'batch', of: first },
      { title: 'with `sync`, µs per entry', run: 'batch with sync', of: first },
      { title: 'longest delay of the event loop, ms', run: 'loop', of: loop, isMedian: true }
    ]
  },
  {
    name: 'stores',
    label: 'ten kinds of entries',
    variants: [
      { name: 'ten sublevels of one database', workload: 'sublevels' },
      { name: 'ten databases', workload: 'databases' },
      { name: 'ten databases with `sharedResources`', workload: 'databases', db: { sharedResources: true } }
    ],
    runs: [{ name: 'stores', args: ['-n', ENTRIES, '--stores', '10'] }],
    columns: [
      { title: 'batch of 1,000, µs per entry', run: 'stores', of: micros('batch') },
      { title: 'get, random key, µs', run: 'stores', of: micros('get') },
      { title: 'opening a database, ms', run: 'stores', of: (result) => micros('open')(result) / 1000 },
      { title: 'memory, MB', run: 'stores', of: memory, isMedian: true }
    ]
  }
]
