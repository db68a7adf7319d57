// Changes a program that imports `level`, `classic-level`, `memory-level` or `browser-level` so that it imports `terrace`:
//
//   node codemod.mjs DIRECTORY             shows what it would change, and what it cannot
//   node codemod.mjs DIRECTORY --write     changes it
//
// It looks at .js, .mjs, .cjs, .jsx, .ts, .mts, .cts, .tsx and package.json, and leaves out node_modules and what begins with a dot.
// Exit code: 0 if all was changed that has to be, 1 if something is left to do by hand, 2 if it was called wrongly.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const OLD = ['level', 'classic-level', 'memory-level', 'browser-level']
const VERSION = '^0.1.0'
const SOURCE = /\.([mc]?[jt]s|[jt]sx)$/
const SPECIFIER = new RegExp(
  `(\\bfrom\\s*|\\bimport\\s*\\(?\\s*|\\brequire(?:\\.resolve)?\\s*\\(\\s*)(['"])(${OLD.join('|')})\\2`,
  'g'
)

/** Adds a listener for one of these events. */
const listens = (events) => new RegExp(`\\.(?:on|once|addListener)\\s*\\(\\s*(['"\`])(?:${events})\\1`)

/** What imports a database. Many objects that are none have an event `ready`. */
const IMPORTS_LEVEL = new RegExp(
  `${SPECIFIER.source}|\\b(?:from|require\\s*\\(|import\\s*\\()\\s*['"](?:levelup|terrace)['"]`
)

/** What cannot be changed mechanically: a pattern, what to do, and what else is in a file that is meant, if not every file is. */
const BY_HAND = [
  [
    /\b(import\s+\w+\s+from|(const|let|var)\s+\w+\s*=\s*require\s*\()\s*(['"])level\3/,
    'level 7 or older: UPGRADING.md, "level 7 and older"'
  ],
  [
    /['"](levelup|leveldown|encoding-down|level-mem|level-rocksdb)['"]/,
    'levelup: UPGRADING.md, "levelup with leveldown"'
  ],
  [/['"]subleveldown['"]/, 'db.sublevel(): UPGRADING.md, "subleveldown"'],
  [/['"](multilevel|multileveldown|many-level|level-party)['"]/, 'terrace-net: "Sharing a database"'],
  [/\.create(Read|Key|Value)Stream\s*\(/, 'iterator(), keys(), values(), or the streams of terrace-toolbox'],
  [/\bLEVEL_NOT_FOUND\b|\.notFound\b/, 'get() of an absent key gives undefined'],
  [/\bnew\s+BrowserLevel\s*\(/, "add storage: 'indexeddb' to open what browser-level has stored"],
  [/\bstoreEncoding\b/, 'MemoryLevel keeps keys in the order of their bytes, whatever storeEncoding says'],
  [listens('put|del|batch'), "db.on('write', (operations) => …): one event for put, del and batch"],
  [listens('ready'), "the event is 'open'", IMPORTS_LEVEL]
]

const usage = 'usage: node codemod.mjs DIRECTORY [--write]'
const [directory, flag, ...rest] = process.argv.slice(2)
if (directory === undefined || rest.length > 0 || ![undefined, '--write'].includes(flag)) {
  console.error(usage)
  process.exit(2)
}
let leftToDo = 0
for (const file of filesIn(directory)) change(file, flag === '--write')
process.exitCode = leftToDo === 0 ? 0 : 1

/** The files to look at, in the order of their names. */
function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && !name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const within = join(path, entry.name)
      if (entry.isDirectory()) return filesIn(within)
      return SOURCE.test(entry.name) || entry.name === 'package.json' ? [within] : []
    })
}

function change(file, write) {
  const text = readFileSync(file, 'utf8')
  const isManifest = file.endsWith('package.json')
  if (!isManifest) tellWhatIsLeft(file, text)
  const changed = isManifest ? changeManifest(text) : changeSource(text)
  if (changed === text) return
  show(file, text, changed)
  if (write) writeFileSync(file, changed)
}

/** Source code that imports `terrace`. `BrowserLevel` keeps its name within the file. */
function changeSource(text) {
  return text
    .replace(
      /\{([^{}]*)\}(\s*from\s*['"]browser-level['"])/g,
      (_, names, from) => `{${renamed(names, ' as ')}}${from}`
    )
    .replace(
      /\{([^{}]*)\}(\s*=\s*(?:await\s+import|require)\s*\(\s*['"]browser-level['"])/g,
      (_, names, from) => `{${renamed(names, ': ')}}${from}`
    )
    .replace(SPECIFIER, (_, before, quote) => `${before}${quote}terrace${quote}`)
}

/** Has `BrowserLevel` among these names be `Level`, under the name that the program uses. */
function renamed(names, as) {
  return names.replace(/\bBrowserLevel\b(\s+as\s+|\s*:\s*)?/, (_, other) =>
    other ? `Level${other}` : `Level${as}BrowserLevel`
  )
}

/** A manifest that depends on `terrace` in place of the old packages. */
function changeManifest(text) {
  const manifest = JSON.parse(text)
  for (const kind of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) {
    const entries = Object.entries(manifest[kind] ?? {})
    if (!entries.some(([name]) => OLD.includes(name))) continue
    const others = entries.filter(([name]) => !OLD.includes(name) && name !== 'terrace')
    manifest[kind] = Object.fromEntries(
      [...others, ['terrace', VERSION]].sort(([a], [b]) => (a < b ? -1 : 1))
    )
  }
  const indent = /^\{\r?\n([ \t]+)/.exec(text)?.[1] ?? '  '
  const changed = `${JSON.stringify(manifest, null, indent)}\n`
  return changed.includes(`"terrace": "${VERSION}"`) &&
    JSON.stringify(JSON.parse(text)) !== JSON.stringify(manifest)
    ? changed
    : text
}

/** Prints the lines that differ. */
function show(file, before, after) {
  const old = before.split('\n')
  const fresh = after.split('\n')
  const isSame = (line, lines) => lines.includes(line)
  for (const [i, line] of old.entries())
    if (!isSame(line, fresh)) console.log(`${file}:${i + 1}: - ${line.trim()}`)
  for (const [i, line] of fresh.entries())
    if (!isSame(line, old)) console.log(`${file}:${i + 1}: + ${line.trim()}`)
}

function tellWhatIsLeft(file, text) {
  for (const [i, line] of text.split('\n').entries()) {
    for (const [pattern, advice, within] of BY_HAND) {
      if (!pattern.test(line) || (within && !within.test(text))) continue
      leftToDo++
      console.log(`${file}:${i + 1}: by hand: ${advice}`)
    }
  }
}
