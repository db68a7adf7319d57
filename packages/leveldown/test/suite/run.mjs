// Runs the test suite that abstract-leveldown publishes, unmodified, on every kind of database.
//
//   node test/suite/run.mjs                  all of them
//   node test/suite/run.mjs disk             one of them
//   node test/suite/run.mjs disk --tap       with every assertion

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runSuites } from '../../../../tests/support/suite.mjs'

const require = createRequire(import.meta.url)
const { Level, MemoryLevel } = require('terrace')
const leveldown = require('terrace-leveldown')
const memdown = require('terrace-leveldown/memory')

const suite = require('abstract-leveldown/test')
const options = { clear: true, getMany: true }
const onDisk = { suite, options, tests: 294 }
const inMemory = { suite, options: { ...options, createIfMissing: false, errorIfExists: false }, tests: 288 }

const directories = []
process.on('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

function newDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-leveldown-'))
  directories.push(directory)
  return join(directory, 'db')
}

runSuites(import.meta.url, {
  disk: { ...onDisk, factory: () => leveldown(newDirectory()) },
  memory: { ...inMemory, factory: () => memdown() }
})

void Level
void MemoryLevel
