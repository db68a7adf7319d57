// Writers that are killed at random instants, and what is found afterwards.

import assert from 'node:assert/strict'
import { roundIn } from './rounds.mjs'
import { uniqueValue } from './writer.mjs'

const LONGEST_PAUSE_MS = 200

/** The highest acknowledged number of each kind, by the lines of a writer; 0 if there is none. */
function acknowledgedBy(lines) {
  const highest = { u: 0, s: 0, r: 0 }
  for (const line of lines.filter(Boolean)) {
    const [kind, number] = line.split(' ')
    if (kind in highest) highest[kind] = Math.max(highest[kind], Number(number))
  }
  return highest
}

/** Whether the lines report a write of each kind, or the end of a writer. */
function isUnderWay(lines) {
  return lines.includes(undefined) || Object.values(acknowledgedBy(lines)).every((highest) => highest > 0)
}

/** Kills a writer: at any time, perhaps while the database is made or opened, or after a write of each kind was acknowledged. */
async function linesUntilKilled(writer, afterWrites, longestPauseMs) {
  const seen = []
  while (afterWrites && !isUnderWay(seen)) seen.push(await writer.line())
  await new Promise((resolve) => setTimeout(resolve, Math.random() * longestPauseMs))
  return [...seen, ...(await writer.kill())].filter(Boolean)
}

/**
 * Kills writers on a database, one after the other, and counts. Every other kill comes after writes of each kind.
 *
 * - `missing`: acknowledged writes that are not there.
 * - `torn`: batches of which a part is there.
 * - `gaps`: writes that are not there although a later one of the same writer is.
 * - `failed`: writers that a write failed for.
 *
 * @param {object} tested
 * @param {(first: number) => import('./processes.mjs').Other} tested.startWriter - Starts a process that calls `writeUntilKilled()`.
 * @param {() => Promise<any>} tested.openLevel - Opens the database, which is closed before the next writer starts.
 * @param {number} tested.kills
 * @param {number} [tested.longestPauseMs] - How long a writer runs at the most after it was started, or has written.
 */
export async function killWriters(t, { startWriter, openLevel, kills, longestPauseMs = LONGEST_PAUSE_MS }) {
  const counts = { kills, beforeAnyWrite: 0, unique: 0, overwrites: 0, batches: 0 }
  Object.assign(counts, { unacknowledged: 0, missing: 0, torn: 0, gaps: 0, failed: 0 })
  let first = 1
  let before = { s: 0, r: 0 }

  for (let kill = 0; kill < kills; kill++) {
    const lines = await linesUntilKilled(startWriter(first), kill % 2 === 1, longestPauseMs)
    const acknowledged = acknowledgedBy(lines)
    if (lines.some((line) => line.startsWith('failed'))) counts.failed++

    const db = await openLevel()
    const last = await countUnique(db, first, acknowledged.u, counts)
    const same = Number((await db.get('same')) ?? 0)
    if (same < Math.max(acknowledged.s, before.s)) counts.missing++
    const round = roundIn(await db.iterator({ gte: 'r', lt: 's' }).all())
    if (round === undefined) counts.torn++
    else if (round < Math.max(acknowledged.r, before.r)) counts.missing++
    await db.close()

    counts.unique += Math.max(0, acknowledged.u - first + 1)
    counts.overwrites += Math.max(0, acknowledged.s - first + 1)
    counts.batches += Math.max(0, acknowledged.r - first + 1)
    if (acknowledged.s === 0) counts.beforeAnyWrite++
    if (same > acknowledged.s || round > acknowledged.r || last > acknowledged.u) counts.unacknowledged++
    before = { s: same, r: round ?? 0 }
    first = 2 + Math.max(first, last, acknowledged.u, same, round ?? 0)
  }
  t.diagnostic(JSON.stringify(counts))
  return counts
}

/** Counts what is missing of the puts of unique keys. Returns the last that is there. */
async function countUnique(db, first, acknowledged, counts) {
  const keys = await db.keys({ gte: 'u', lt: 'v' }).all()
  const last = keys.reduce((highest, key) => Math.max(highest, Number(key.slice(1))), first - 1)
  for (let number = first; number <= last; number++) {
    if ((await db.get(`u${number}`)) === uniqueValue(number)) continue
    if (number <= acknowledged) counts.missing++
    else counts.gaps++
  }
  counts.missing += Math.max(0, acknowledged - last)
  return last
}

/** A run in which nothing was acknowledged proves nothing. */
export function assertSomeAcknowledged({ unique, overwrites, batches }) {
  assert.ok(unique > 0 && overwrites > 0 && batches > 0)
}

/** That no acknowledged write is missing, no batch is there in part, and none failed. */
export function assertAllThere({ missing, torn, gaps, failed, ...counts }) {
  assertSomeAcknowledged(counts)
  assert.deepEqual({ missing, torn, gaps, failed }, { missing: 0, torn: 0, gaps: 0, failed: 0 })
}

/** Kills writers, see {@link killWriters}. Every acknowledged write is present, and the database can be written afterwards. */
export async function assertSurvivesKills(t, tested) {
  assertAllThere(await killWriters(t, tested))
  const db = await tested.openLevel()
  await db.put('after', 'kills')
  assert.equal(await db.get('after'), 'kills')
}
