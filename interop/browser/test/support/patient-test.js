// Tests of what comes by events alone: one that waits in vain ends nevertheless.

import { test as testOfNode } from 'node:test'

const TIMEOUT_MS = 180_000

export const test = (name, work) => testOfNode(name, { timeout: TIMEOUT_MS }, work)
