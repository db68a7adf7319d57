// merkle-patricia-tree on levelup with leveldown: the trie of Ethereum.

const { createHash } = require('node:crypto')
const { print, run } = require('./support/print.js')

const { BaseTrie, CheckpointTrie, SecureTrie } = require('merkle-patricia-tree')
const level = require('level-6')

const key = (i) => createHash('sha256').update(`key ${i}`).digest()

async function main() {
  const db = level('tries')
  const trie = new BaseTrie(db)
  await trie.put(Buffer.from('test'), Buffer.from('one'))
  print(
    'root',
    trie.root.toString('hex'),
    String(await trie.get(Buffer.from('test'))),
    await trie.get(Buffer.from('none'))
  )
  for (let i = 0; i < 500; i++) await trie.put(key(i), Buffer.from(`value ${i}`))
  for (let i = 0; i < 500; i += 3) await trie.del(key(i))
  print('root', trie.root.toString('hex'), String(await trie.get(key(1))), await trie.get(key(3)))
  await trie.batch([
    { type: 'put', key: key(3), value: Buffer.from('back') },
    { type: 'del', key: key(1) }
  ])
  const { root } = trie
  print('root', root.toString('hex'), await trie.checkRoot(root))
  print('proof', String(await BaseTrie.verifyProof(root, key(3), await BaseTrie.createProof(trie, key(3)))))
  // It reads branches side by side, so the order depends on the database.
  const entries = []
  for await (const { key, value } of trie.createReadStream()) entries.push(`${key.toString('hex')} ${value}`)
  print('stream', entries.length, createHash('sha256').update(entries.sort().join()).digest('hex'))

  const secure = new SecureTrie(level('secure'))
  for (let i = 0; i < 50; i++) await secure.put(Buffer.from(`account ${i}`), Buffer.from([i + 1]))
  print('secure', secure.root.toString('hex'), await secure.get(Buffer.from('account 7')))

  const points = new CheckpointTrie(db, root)
  points.checkpoint()
  await points.put(key('temporary'), Buffer.from('1'))
  print('in a checkpoint', points.root.toString('hex'))
  await points.revert()
  print('reverted', points.root.equals(root), await points.get(key('temporary')))
  points.checkpoint()
  await points.put(key('kept'), Buffer.from('2'))
  await points.commit()
  const kept = points.root
  await db.close()
  await secure.db._leveldb.close()

  const again = level('tries')
  print(
    'again',
    String(await new BaseTrie(again, kept).get(key('kept'))),
    String(await new BaseTrie(again, root).get(key(3)))
  )
  await again.close()
}

run(main)
