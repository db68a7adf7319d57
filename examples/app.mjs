// A small blog in one database: users, posts, sessions that expire, counts, a live feed, a backup. Each rule is enforced in
// the write that it belongs to, so a crash never leaves it half applied.
//
//   node examples/app.mjs            a session of its users, printed; the data is removed afterwards
//   node examples/app.mjs DIRECTORY     the same in a directory that stays, to run it again or to look into

import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Level } from 'terrace'
import { bytewise, prefix } from 'terrace-bytewise'
import { dump, restore } from 'terrace-toolbox/copy'
import { count, feed } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { transactions } from 'terrace-toolbox/transaction'
import { ttl } from 'terrace-toolbox/ttl'

const SESSION_MS = 500

/** An error caused by the user. */
class Refused extends Error {}

class Blog {
  constructor(directory) {
    const db = new Level(directory, { valueEncoding: 'json' })
    const sublevel = (name, options) => db.sublevel(name, { valueEncoding: 'json', ...options })
    this.db = db
    this.users = sublevel('users')
    // Posts are keyed by author and number, so all posts of an author are adjacent.
    this.posts = sublevel('posts', { keyEncoding: bytewise })
    this.sessions = ttl(sublevel('sessions'), { defaultTtlMs: SESSION_MS, checkIntervalMs: 50 })

    this.byMail = index(this.users, { name: 'mail', on: 'mail', unique: true })
    this.byTag = index(this.posts, { name: 'tag', on: 'tags', multiple: true })
    this.postsOf = count(this.posts, { name: 'author', of: ([author]) => author, values: false })
    this.changes = feed(this.posts, { retention: { count: 10_000 } })
    this.transaction = transactions(db)
  }

  /** Creates a user. The unique index rejects a mail address that another user has. */
  async signUp(name, mail) {
    try {
      const isNew = await this.transaction.ifAbsent(name, { mail, posts: 0 }, { sublevel: this.users })
      if (!isNew) throw new Refused(`the name ${name} is taken`)
    } catch (error) {
      if (error.cause?.code === 'TOOLBOX_UNIQUE') throw new Refused(`somebody has the address ${mail}`)
      throw error
    }
  }

  /** Starts a session of a user. It expires automatically. */
  async logIn(mail) {
    const name = await this.byMail.getKey(mail)
    if (name === undefined) throw new Refused(`nobody has the address ${mail}`)
    const token = `${name}-${Math.random().toString(36).slice(2)}`
    await this.sessions.put(token, { name })
    return token
  }

  /** Writes a post. Two concurrent posts never get the same number, because one of the transactions is retried. */
  async post(token, text, tags = []) {
    const session = await this.sessions.get(token)
    if (session === undefined) throw new Refused('the session has ended')
    const { name } = session

    return this.transaction(async (tx) => {
      const user = await tx.get(name, { sublevel: this.users })
      const number = user.posts + 1
      tx.put(name, { ...user, posts: number }, { sublevel: this.users })
      tx.put([name, number], { text, tags, at: Date.now() }, { sublevel: this.posts })
      return number
    })
  }

  /** The posts of an author, the newest first. */
  async *postsBy(name, limit = 10) {
    for await (const [[, number], { text }] of this.posts.iterator({
      ...prefix([name]),
      reverse: true,
      limit
    })) {
      yield `${number}. ${text}`
    }
  }

  /** Posts with a tag, by author. */
  async *taggedWith(tag) {
    for await (const [[name], { text }] of this.byTag.entries({ equals: tag })) yield `${name}: ${text}`
  }

  /** Calls back for each post from now on, until the signal is aborted. */
  async follow(show, signal) {
    const after = await this.changes.lastSequence()
    try {
      for await (const { type, key, value } of this.changes.read({ after, live: true, signal })) {
        if (type === 'put') show(`${key[0]} wrote “${value.text}”`)
      }
    } catch (error) {
      if (error.code !== 'FEED_ABORTED') throw error
    }
  }
}

async function all(items) {
  const list = []
  for await (const item of items) list.push(item)
  return list
}

async function refusal(promise) {
  const error = await promise.then(
    () => new Error('this should have been refused'),
    (error) => error
  )
  if (!(error instanceof Refused)) throw error
  return error.message
}

const [given] = process.argv.slice(2)
const directory = given ?? mkdtempSync(join(tmpdir(), 'terrace-app-'))
const blog = new Blog(join(directory, 'blog'))
const backup = new Level(join(directory, `backup-${Date.now()}`))

try {
  const name = (first) => `${first}${given === undefined ? '' : Date.now()}`
  const [ada, ben] = [name('ada'), name('ben')]
  await blog.signUp(ada, `${ada}@example.org`)
  await blog.signUp(ben, `${ben}@example.org`)
  console.log('refused:', await refusal(blog.signUp(`${ben}2`, `${ada}@example.org`)))

  const live = []
  const stop = new AbortController()
  const following = blog.follow((line) => live.push(line), stop.signal)

  const token = await blog.logIn(`${ada}@example.org`)
  const other = await blog.logIn(`${ben}@example.org`)
  await Promise.all([
    blog.post(token, 'An engine made by weaving', ['engines']),
    blog.post(token, 'Notes on the engine', ['engines', 'notes']),
    blog.post(other, 'Hello', ['notes'])
  ])

  console.log(`${ada}’s posts:`, (await all(blog.postsBy(ada))).length, await blog.postsOf.get(ada))
  console.log('notes:', await all(blog.taggedWith('notes')))

  await sleep(SESSION_MS + 20)
  console.log('refused:', await refusal(blog.post(token, 'too late')))
  while (live.length < 3) await sleep(5)
  stop.abort()
  await following
  console.log('live:', live.length, 'posts were shown as they were written')

  await dump(blog.db, createWriteStream(join(directory, 'blog.dump')))
  const { entries } = await restore(backup, createReadStream(join(directory, 'blog.dump')))
  console.log('backup:', entries === (await all(blog.db.keys())).length ? 'complete' : 'not complete')
  const { missing, stale, wrong } = await blog.byMail.verify()
  console.log('index of addresses:', missing + stale + wrong === 0 ? 'in step' : 'damaged')
} finally {
  await Promise.all([blog.db.close(), backup.close()])
  if (given === undefined) rmSync(directory, { recursive: true })
}
