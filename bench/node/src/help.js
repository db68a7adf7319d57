/** The help texts of the program. */

import { DEFAULTS } from './settings.js'
import { KNOWN } from './targets/known.js'
import { WORKLOADS } from './workloads/index.js'

/** @param {string} [command] */
export function help(command) {
  if (command === 'run') return run()
  if (command === 'report') return REPORT
  if (command === 'plot') return PLOT
  return GENERAL
}

const GENERAL = `terrace-bench: a benchmark of databases with the API of abstract-level

  terrace-bench run WORKLOAD [TARGET ...] [options]   measure
  terrace-bench report FILE.jsonl ...                 print tables of results
  terrace-bench plot FILE.jsonl ...                   draw results

Each command has its own --help. Examples:

  terrace-bench run table terrace classic-level
  terrace-bench run put classic-level memory-level -n 1e5 --results put.jsonl
  terrace-bench plot put.jsonl`

const REPORT = `terrace-bench report FILE.jsonl ... [--reference TARGET]

Prints tables of results in Markdown: medians of the rounds, and how many times as fast as the reference each target is.
The reference is classic-level or browser-level if it took part, otherwise the first target.

  terrace-bench report results.jsonl
  terrace-bench report results.jsonl --reference lmdb > results.md`

const PLOT = `terrace-bench plot FILE.jsonl ... [--out PREFIX]

Draws results as PREFIX-WORKLOAD.svg, which follows the reader's choice of light or dark, and .png (PREFIX: the first
file's name without .jsonl): for each line of a table how many times as fast as the reference each target is, the times of
batches over time for sorted-write, event loop delays for sustained and cold-read.

  terrace-bench plot results.jsonl
  terrace-bench plot monday.jsonl tuesday.jsonl --out both`

function run() {
  return `terrace-bench run WORKLOAD [TARGET ...] [options]

Workloads:
${Object.entries(WORKLOADS)
  .map(([name, { summary }]) => `  ${name.padEnd(13)} ${summary}`)
  .join('\n')}

Targets (usually terrace): ${Object.keys(KNOWN).join(', ')},
or any package, or the path of any module, that exports a class like abstract-level's. LABEL=TARGET gives a target
another name, so that the same one can take part twice with different options.

Every round runs every target once, in turn, each in its own process. Whatever is read or written is checked; a
database that loses or changes entries fails the run.

Options, with their defaults where the workload has no other:
  -n, --n NUMBER              entries or operations (${DEFAULTS.n})
  --concurrency NUMBER        operations running at once (${DEFAULTS.concurrency})
  --batch-size NUMBER         operations in a batch, keys in a getMany, entries in a window (${DEFAULTS.batchSize})
  --value-size BYTES          (${DEFAULTS.valueSize})
  --compressible-percent NUMBER  how much of each value repeats what comes before it (${DEFAULTS.compressiblePercent})
  --key-order sorted|random   (${DEFAULTS.keyOrder})
  --key-distribution uniform|zipfian
  --key-encoding, --value-encoding utf8|buffer|view|json
  --read-percent NUMBER       reads in 100 operations (mixed: ${DEFAULTS.readPercent}; cold-read: 100)
  --compacted                 compact the loaded entries before they are read, if the database can
  --read-options JSON         options for each call of get and iterate, such as '{"fillCache": false}'
  --stores NUMBER             databases in databases and open, sublevels in sublevels (${DEFAULTS.stores}; open: 1000)
  --tables NUMBER             tables of the large database of open (${DEFAULTS.tables})
  --repeats NUMBER            how often open opens each database in a round (${DEFAULTS.repeats})
  --seconds NUMBER            how long sustained, cold-read and plain-loop run (${DEFAULTS.seconds})
  --no-yield                  let their clients continue at once, not in the next turn of the event loop
  --sync                      count a write only when it has reached the disk
  --seed NUMBER               seed of all random numbers (${DEFAULTS.seed})
  --rounds NUMBER             rounds (3; sorted-write, sustained, cold-read and plain-loop: 1)
  --db [TARGET=]JSON          options of the database, for all targets or for one, or a .json file that contains them
  --class NAME                the export to use if a module has several classes
  --in-memory                 construct classes of modules without a location
  --dir DIRECTORY             where to make and remove databases (the system's directory for temporary files)
  --results FILE              append the results, one JSON object on each line
  --reference TARGET          the target to compare with (classic-level if it takes part, otherwise the first)
  --skip-missing              leave out targets that cannot be loaded

Examples:
  terrace-bench run table terrace terrace:leveldb classic-level memory-level --results node.jsonl
  terrace-bench run put terrace classic-level --concurrency 64 --sync -n 1e5
  terrace-bench run get classic-level big=classic-level --db big='{"cacheSize": 268435456}' --key-distribution zipfian
  terrace-bench run sorted-write terrace classic-level --key-order random --results writes.jsonl
  terrace-bench run sustained terrace classic-level --seconds 30 --results loop.jsonl
  terrace-bench run sustained terrace --batch-size 10000 --concurrency 1
  terrace-bench run cold-read terrace classic-level --read-percent 50
  terrace-bench run put ./my-database.js --class MyLevel`
}
