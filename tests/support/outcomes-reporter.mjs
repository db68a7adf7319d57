// A reporter of Node's test runner that writes each test that is no part of another one, and its outcome, as a line of JSON.

import { inspect } from 'node:util'
import { placeOf, recordName } from './test-lines.mjs'

/** What a test says that Node 20 leaves out because of its name. Newer ones do not report it. */
const NAMED_OTHERWISE = /does not match pattern/

export default async function* outcomes(events) {
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting > 0) continue
    const { name, file, skip, details } = data
    if (NAMED_OTHERWISE.test(skip)) continue
    recordName(placeOf(file), name)
    const failures = type === 'test:fail' ? [inspect(details.error?.cause ?? details.error)] : []
    yield `${JSON.stringify({ name, file, isSkipped: skip !== undefined, skip, failures })}\n`
  }
}
