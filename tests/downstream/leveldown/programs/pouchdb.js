// PouchDB in pouchdb-adapter-leveldb: documents, attachments, views, replication, compaction. The argument is the number of documents.

const { createHash } = require('node:crypto')
const { print, run } = require('./support/print.js')

const PouchDB = require('pouchdb-core')
  .plugin(require('pouchdb-adapter-leveldb'))
  .plugin(require('pouchdb-mapreduce'))
  .plugin(require('pouchdb-replication'))

const COUNT = Number(process.argv[2])
const idOf = (i) => `doc ${String(i).padStart(6, '0')}`
const hash = (value) =>
  createHash('sha256')
    .update(Buffer.isBuffer(value) ? value : JSON.stringify(value))
    .digest('hex')
    .slice(0, 16)
const refused = (promise) =>
  promise.then(
    () => 'done',
    ({ status, name, reason }) => ({ status, name, reason })
  )
const open = (name) => new PouchDB(name, { adapter: 'leveldb' })

async function state(db) {
  const { rows, total_rows } = await db.allDocs({ include_docs: true, conflicts: true })
  return [total_rows, hash(rows)]
}

async function main() {
  let one = open('one')
  for (let from = 0; from < COUNT; from += 1000) {
    const docs = Array.from({ length: Math.min(1000, COUNT - from) }, (_, i) => ({
      _id: idOf(from + i),
      kind: ['fruit', 'tool', 'bird'][(from + i) % 3],
      n: from + i,
      text: 'größer 値 '.repeat((from + i) % 20)
    }))
    const results = await one.bulkDocs(docs)
    if (!results.every(({ ok }) => ok)) print('refused', results)
  }
  print('written', await state(one))

  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * i) % 251))
  for (let i = 0; i < 10; i++) {
    await one.put({
      _id: `attached ${i}`,
      _attachments: {
        text: { content_type: 'text/plain', data: Buffer.from(`text ${i}`) },
        same: { content_type: 'application/octet-stream', data: bytes }
      }
    })
  }
  const { rev } = await one.putAttachment(
    'attached 3',
    'more',
    (await one.get('attached 3'))._rev,
    Buffer.from('more'),
    'text/plain'
  )
  await one.removeAttachment('attached 3', 'text', rev)
  print(
    'attachments',
    hash(await one.getAttachment('attached 7', 'same')) === hash(bytes),
    String(await one.getAttachment('attached 3', 'more'))
  )
  print(
    'attachments',
    Object.keys((await one.get('attached 3', { attachments: true }))._attachments),
    await refused(one.getAttachment('attached 3', 'text'))
  )

  const first = await one.get(idOf(1))
  const changed = await one.put({ ...first, n: -1 })
  print('changed', changed.rev, (await one.get(idOf(1))).n)
  print('conflict', await refused(one.put({ ...first, n: -2 })), await refused(one.get('none')))
  await one.remove(await one.get(idOf(2)))
  print('removed', await refused(one.get(idOf(2))))
  print(
    'ranges',
    hash(await one.allDocs({ startkey: idOf(10), endkey: idOf(20) })),
    (await one.allDocs({ descending: true, limit: 3, skip: 1 })).rows.map(({ id }) => id)
  )
  print('keys', (await one.allDocs({ keys: [idOf(5), 'none', idOf(2)] })).rows)
  const changes = await one.changes({ since: COUNT - 5 })
  print('changes', changes.last_seq, changes.results)

  await one.put({
    _id: '_design/kinds',
    views: { all: { map: 'function (doc) { if (doc.kind) emit(doc.kind, doc.n) }', reduce: '_stats' } }
  })
  print(
    'view',
    await one.query('kinds/all', { group: true }),
    (await one.query('kinds/all', { reduce: false, key: 'bird', limit: 3 })).rows
  )

  let two = open('two')
  const copied = await one.replicate.to(two, { batch_size: 500 })
  print('replicated', copied.ok, copied.docs_written, copied.docs_read, copied.doc_write_failures)
  print('equal', await state(one), await state(two))
  await two.put({ ...(await two.get(idOf(4))), n: 'two' })
  await one.put({ ...(await one.get(idOf(4))), n: 'one' })
  await two.put({ _id: 'only in two', data: [1, 2] })
  await one.remove(await one.get(idOf(6)))
  const { push, pull } = await one.sync(two)
  print('synchronised', push.docs_written, pull.docs_written)
  print('equal', await state(one), await state(two))
  print('winner', (await one.get(idOf(4), { conflicts: true }))._conflicts, (await two.get(idOf(4))).n)

  for (let i = 0; i < 20; i++) await one.put({ ...(await one.get(idOf(7))), n: i })
  print(
    'compacted',
    await one.compact(),
    await refused(one.get(idOf(1), { rev: first._rev })),
    await state(one)
  )
  await one.close()
  await two.close()
  one = open('one')
  two = open('two')
  const { doc_count, update_seq } = await one.info()
  print('again', doc_count, update_seq, await state(one), await state(two))
  await two.destroy()
  print('destroyed', (await open('two').info()).doc_count)
  await one.close()
}

run(main)
