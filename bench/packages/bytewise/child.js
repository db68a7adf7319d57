// Measures one encoding, in a separate process: `node --expose-gc child.js NAME MILLISECONDS`. Prints a line of JSON,
// for each shape the microseconds per operation; null where the encoding does not have such keys.

import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { ENCODINGS, SHAPES } from './cases.js'

const KEYS = 1000
const [name, milliseconds] = process.argv.slice(2)
const encoding = ENCODINGS[name]

/** Whether keys are decoded unchanged. */
function isSupported(keys) {
  try {
    for (const key of keys) assert.deepStrictEqual(encoding.decode(encoding.encode(key)), key)
    return true
  } catch {
    return false
  }
}

/** Microseconds per call of `work` on one of `inputs`: the median of passes over all of them. */
function measure(inputs, work) {
  const outputs = new Array(inputs.length)
  const pass = () => {
    const start = performance.now()
    for (let i = 0; i < inputs.length; i++) outputs[i] = work(inputs[i])
    return performance.now() - start
  }
  const enough = (passes) => {
    const times = []
    const end = performance.now() + Number(milliseconds)
    while (times.length < passes || performance.now() < end) times.push(pass())
    return times
  }
  // The engine compiles during the first passes.
  enough(20)
  globalThis.gc()
  const times = enough(21).sort((a, b) => a - b)
  return (times[times.length >> 1] * 1000) / inputs.length
}

const results = {}
for (const [shape, make] of Object.entries(SHAPES)) {
  const keys = Array.from({ length: KEYS }, (_, i) => make(i + 1))
  if (!isSupported(keys)) {
    results[shape] = null
    continue
  }
  const encoded = keys.map((key) => encoding.encode(key))
  results[shape] = {
    encode: measure(keys, (key) => encoding.encode(key)),
    decode: measure(encoded, (bytes) => encoding.decode(bytes)),
    sizeBytes: encoded.reduce((sum, bytes) => sum + bytes.length, 0) / KEYS
  }
}
console.log(JSON.stringify(results))
