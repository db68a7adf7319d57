// The tables of docs/back-ends.md, from a file of results, each between its markers:
//
//   node tests/back-ends/tables.js bench/results/back-ends.json

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { PARTS } from '../support/common.mjs'

const KIB = 1024
const MIB = 1024 * KIB
const DONE = ['suite', ...Object.keys(PARTS)]

/** The text with all tables. */
export function tables({ targets }) {
  const probed = targets.filter(({ probes }) => probes?.methods !== undefined)
  return [
    ['supports', table(SUPPORTS, probed)],
    ['processes', table(PROCESSES, probed)],
    ['passed', `${table(PASSED, targets)}\n\n${remarks(targets)}`]
  ]
    .map(([name, text]) => `<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->\n`)
    .join('\n')
}

/** What a code says of a database that lacks something. */
const REFUSED = {
  TOOLBOX_SHARED: 'refused: shared',
  TOOLBOX_INDEX_UNSUPPORTED: 'refused: no reads in hooks',
  FEED_NOT_SUPPORTED: 'refused: no reads in hooks'
}

const yes = (isSo) => (isSo ? 'yes' : 'no')

const SUPPORTS = {
  'reads within the call': ({ probes: { methods } }) => yes(methods.getSync && methods.iterateSync),
  'writes within the call': ({ probes: { methods } }) => yes(methods.putSync && methods.batchSync),
  'snapshots, of iterators and explicit': ({ probes: { snapshots } }) =>
    snapshots.implicit === snapshots.explicit
      ? yes(snapshots.implicit)
      : `of iterators ${yes(snapshots.implicit)}, explicit ${yes(snapshots.explicit)}`,
  'hooks see every write': ({ probes: { declared } }) => yes(declared.everyWrite),
  'longest key': ({ probes: { keyBytes } }) => size(keyBytes),
  'largest value': ({ probes: { valueBytes } }) => size(valueBytes)
}

const PROCESSES = {
  'persists after closing': ({ probes }) => yes(probes.staysAfterClosing),
  'an acknowledged put survives `kill -9`': ({ probes: { staysAfterKill } }) => afterKill(staysAfterKill),
  'a second process opens it': ({ probes: { processes } }) => beside(processes.asUsual),
  '… both with the option for it': ({ several, probes: { processes } }) =>
    Object.keys(several ?? {}).length === 0
      ? '–'
      : `\`${Object.keys(several)}\`: ${beside(processes.shared)}`,
  '… with `readOnly`': ({ probes: { processes } }) => reader(processes.reader),
  machines: ({ machines }) => machines
}

const PASSED = Object.fromEntries(
  DONE.map((job) => [job === 'suite' ? 'abstract-level' : job, (target) => count(target, job)])
)

function table(columns, targets) {
  const rows = targets.map((target) => [target.name, ...Object.values(columns).map((cell) => cell(target))])
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    line(['', ...Object.keys(columns)]),
    line(['---', ...Object.keys(columns).map(() => '---')]),
    ...rows.map(line)
  ].join('\n')
}

function size({ bytes, isRefused, code }) {
  if (!isRefused) return `${bytes / MIB} MiB and more`
  const amount =
    bytes >= MIB ? `${Number((bytes / MIB).toFixed(2))} MiB` : `${bytes.toLocaleString('en')} bytes`
  return `${amount}, then \`${code}\``
}

function afterKill({ put, syncedPut }) {
  if (put === syncedPut) return yes(put)
  return syncedPut ? 'with `sync`' : 'without `sync`'
}

/** What two processes can do that both want to write. */
function beside({ second, first }) {
  if (second.opens !== true) return `refused, \`${second.opens}\``
  if (second.writes !== true)
    return second.reads === true ? `reads; a write fails, \`${second.writes}\`` : 'opens, reads nothing'
  if (first.writes !== true) return `takes over; the first gets \`${first.writes}\``
  return first.readsTheirs === true && second.reads === true
    ? 'both write'
    : 'both write, unseen by each other'
}

function reader(found) {
  if (found === null) return '–'
  if (found.second.opens !== true) return `refused, \`${found.second.opens}\``
  if (found.second.writes === true) return 'no such option'
  if (found.first.writes !== true) return `reads; the first gets \`${found.first.writes}\``
  return found.second.reads === true ? 'reads' : 'opens, reads nothing yet'
}

/** The tests that pass, with a mark if there are exceptions. */
function count(target, job) {
  const { notRun, [job]: found } = target
  if (notRun !== undefined || found === undefined) return 'not run'
  if (found.surprises !== undefined) return `${found.passed ?? 0}, **fails**`
  if (found.refusedWith !== undefined) return REFUSED[found.refusedWith] ?? found.refusedWith
  const but = found.exceptions.length > 0 ? ` (${found.exceptions.length} not)` : ''
  return `${found.passed.toLocaleString('en')}${but}`
}

/** Why what did not pass did not. */
function remarks(targets) {
  const lines = []
  for (const { name, notRun, ...jobs } of targets) {
    if (notRun !== undefined) lines.push(`- ${name}: not run, because ${notRun}`)
    const left = DONE.filter((job) => notRun === undefined && jobs[job] === undefined)
    if (left.length > 0) lines.push(`- ${name}: ${left.join(', ')} not run yet, because each takes minutes`)
    for (const job of DONE)
      for (const { test, reason, isLeftOut } of jobs[job]?.exceptions ?? [])
        lines.push(`- ${name}, ${job}, “${test}”: ${isLeftOut ? 'left out, because ' : ''}${reason}`)
  }
  return lines.join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.stdout.write(tables(JSON.parse(readFileSync(process.argv[2], 'utf8'))))
