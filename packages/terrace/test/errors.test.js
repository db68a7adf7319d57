import assert from 'node:assert/strict'
import { constants } from 'node:os'
import { test } from 'node:test'
import { getSystemErrorName } from 'node:util'
import { createError } from '../dist/errors.js'

const causeOf = (number) => createError('Io', 'a message', '/path', undefined, number, 'in words').cause

test("the operating system's error has Node's code and number", () => {
  const { code, errno, path, message } = causeOf(constants.errno.ENOSPC)
  assert.deepEqual([code, path, message], ['ENOSPC', '/path', 'in words'])
  assert.equal(getSystemErrorName(errno), 'ENOSPC')
})

test('an error that node:os has no name for keeps its number', {
  skip: process.platform !== 'linux' && 'the number is that of Linux'
}, () => {
  const EUCLEAN = 117
  const { code, errno } = causeOf(EUCLEAN)
  assert.equal(errno, -EUCLEAN)
  assert.equal(code, getSystemErrorName(-EUCLEAN))
})

test('a failure that is not of the operating system has no cause', () => {
  assert.equal(createError('Corruption', 'a message', '/path', 4, undefined, undefined).cause, undefined)
})
