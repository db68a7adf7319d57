// What level-party's README promises: processes share a database, and one takes over when the leader is killed. The argument is the
// package. Each process that this program starts obeys the lines of its standard input.

const { spawn } = require('node:child_process')
const { createInterface } = require('node:readline')
const { print, run } = require('./support/print.js')

const [, , name, role] = process.argv

/** A process with the database. */
function start() {
  const child = spawn(process.execPath, ['--no-deprecation', __filename, name, 'member'], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const exited = new Promise((resolve) => child.once('exit', resolve))
  return {
    async ask(...command) {
      child.stdin.write(`${JSON.stringify(command)}\n`)
      return JSON.parse((await lines.next()).value)
    },
    kill() {
      child.kill('SIGKILL')
      return exited
    },
    async leave() {
      child.stdin.end()
      return exited
    }
  }
}

async function main() {
  const first = start()
  print('put', await first.ask('put', 'a', { n: 1 }), await first.ask('leader'))
  const second = start()
  print('second', await second.ask('get', 'a'), await second.ask('put', 'b', [2]))
  const third = start()
  print(
    'third',
    await third.ask('batch', [
      { type: 'put', key: 'c', value: 3 },
      { type: 'del', key: 'a' }
    ])
  )
  print('all', await first.ask('all'), await second.ask('all'))
  print('not found', await third.ask('get', 'a'))
  await first.kill()
  print(
    'after the leader was killed',
    await second.ask('put', 'd', 4),
    await third.ask('get', 'd'),
    await third.ask('all')
  )
  await second.kill()
  print('and the next', await third.ask('put', 'e', 5), await third.ask('leader'), await third.ask('all'))
  print('left', await third.leave())
}

async function member() {
  const db = require(name)('db', { valueEncoding: 'json' })
  const leader = new Promise((resolve) => db.once('leader', () => resolve('leader')))
  const commands = {
    leader: () => leader,
    get: (key) => db.get(key),
    put: (...args) => db.put(...args).then(() => 'put'),
    batch: (ops) => db.batch(ops).then(() => 'batch'),
    all: () =>
      new Promise((resolve, reject) => {
        const data = []
        db.createReadStream()
          .on('data', (each) => data.push(each))
          .on('error', reject)
          .on('end', () => resolve(data))
      })
  }
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, ...args] = JSON.parse(line)
    const answer = await commands[command](...args).catch(({ name, message, notFound }) => ({
      name,
      message,
      notFound
    }))
    console.log(JSON.stringify(answer))
  }
  await new Promise((resolve) => db.close(resolve))
  process.exit()
}

run(role === 'member' ? member : main)
