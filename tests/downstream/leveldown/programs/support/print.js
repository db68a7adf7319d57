// What the programs print: lines that depend on nothing but what the database did.

const { inspect } = require('node:util')

/** An error as it is printed: its name, its message, and the properties that programs look at. */
class Shown {
  constructor({ name, message, type, notFound, status }) {
    this.text = `${name}(${JSON.stringify(message)}) ${inspect({ type, notFound, status }, { breakLength: Infinity })}`
  }

  [inspect.custom]() {
    return this.text
  }
}

/** A value whose errors are replaced. */
function plain(value) {
  if (value instanceof Error) return new Shown(value)
  return Array.isArray(value) ? value.map(plain) : value
}

/** A value on one line. */
const shown = (value) =>
  inspect(plain(value), { depth: 6, breakLength: Infinity, maxArrayLength: 50, compact: true, sorted: true })

/** Prints a line. */
const print = (what, ...values) => console.log(`${what}:`, ...values.map(shown))

/** Calls a method that takes a callback. Returns the values, one alone without an array, or the error. Never rejects. */
function call(object, method, ...args) {
  return new Promise((resolve) => {
    const callback = (error, ...values) => resolve(error || (values.length > 1 ? values : values[0]))
    try {
      object[method](...args, callback)
    } catch (error) {
      resolve(['thrown', error])
    }
  })
}

/** Everything that a stream emits until it is closed or has failed: its data, then the names of other events in order. */
function collect(make) {
  return new Promise((resolve) => {
    const data = []
    const events = []
    let stream
    try {
      stream = typeof make === 'function' ? make() : make
    } catch (error) {
      resolve(['thrown', error])
      return
    }
    stream.on('data', (each) => data.push(each))
    stream.on('error', (error) => resolve([...data, error]))
    for (const name of ['end', 'close']) {
      stream.on(name, () => {
        events.push(name)
        if (name === 'close') resolve([...data, ...events])
      })
    }
  })
}

/** Calls what throws, and returns what it throws. */
function thrown(action) {
  try {
    return ['returned', typeof action()]
  } catch (error) {
    return error
  }
}

/** Runs the steps of a program one after another. */
function run(main) {
  main().catch((error) => {
    console.log('FAILED', error)
    process.exitCode = 1
  })
}

module.exports = { call, collect, print, run, thrown }
