// What is run in each runtime, and the counts that it prints.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const terrace = fileURLToPath(new URL('../../packages/terrace/', import.meta.url))

/** Files of tests about the checkout and about browsers: they are the same wherever the addon runs. */
const ELSEWHERE = ['chromium', 'loading', 'package', 'prebuilds']

/** Kinds of databases of `test/suite/run.mjs`. A tab is not of this machine. */
export const SUITES = ['databases', 'sublevels', 'shared', 'clients', 'memory', 'memorySublevels']

/**
 * The jobs, each a function that runs it and returns its counts `{ passed, failed, failures }`, where `failures` are what to read. A
 * job whose program ends in another way than by its own count has failed.
 */
export const JOBS = {
  smoke: async (runtime) => {
    const { status, output } = await runtime.run(fileURLToPath(new URL('smoke.cjs', import.meta.url)))
    const isGood = status === 0 && /^ok /m.test(output)
    return { passed: Number(isGood), failed: Number(!isGood), failures: isGood ? [] : [output] }
  },
  suite: async (runtime) => {
    const results = []
    for (const kind of SUITES) {
      results.push(counted(kind, await runtime.run(join(terrace, 'test', 'suite', 'run.mjs'), [kind])))
    }
    return sum(results)
  },
  own: async (runtime) => {
    if (!runtime.hasNodeTest) return undefined
    const results = []
    for (const file of ownTests()) {
      const options = ['--expose-gc', '--test', '--test-reporter=tap']
      results.push(counted(file, await runtime.run(join(terrace, 'test', file), [], options)))
    }
    return sum(results)
  }
}

function ownTests() {
  return readdirSync(join(terrace, 'test')).filter(
    (file) => file.endsWith('.test.js') && !ELSEWHERE.includes(file.replace('.test.js', ''))
  )
}

/** The counts at the end of what tape or Node has printed in TAP. */
export function counted(name, { status, output }) {
  const count = (word) => Number(new RegExp(`^# ${word}\\s+(\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  const [passed, failed] = [count('pass'), count('fail')]
  if (failed === 0 && status === 0 && passed > 0) return { passed, failed, failures: [] }
  const lines = output.split('\n').filter((line) => /^\s*not ok /.test(line))
  const ending = `${name} ended with status ${status} after ${passed} passed:\n${output.slice(-2000)}`
  return { passed, failed: Math.max(failed, 1), failures: lines.length > 0 ? lines : [ending] }
}

function sum(results) {
  return {
    passed: results.reduce((total, { passed }) => total + passed, 0),
    failed: results.reduce((total, { failed }) => total + failed, 0),
    failures: results.flatMap(({ failures }) => failures)
  }
}
