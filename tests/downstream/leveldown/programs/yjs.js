// y-leveldb 0.1, which uses level 6: edits of two people, update by update.

const { print, run } = require('./support/print.js')

const { LeveldbPersistence } = require('y-leveldb-0.1')
const Y = require('yjs')

/** The updates of two people who edit a document. */
function updatesOf(edits) {
  const updates = []
  const people = [1, 2].map((clientID) => Object.assign(new Y.Doc(), { clientID }))
  for (const person of people)
    person.on('update', (update, origin) => origin !== 'other' && updates.push(update))
  for (let edit = 0; edit < edits; edit++) {
    for (const person of people) {
      const body = person.getText('body')
      if (edit % 5 === 4 && body.length > 3) body.delete(edit % (body.length - 2), 2)
      else body.insert((edit * 7) % (body.length + 1), ['ordered ', 'größer ', '値 '][edit % 3])
    }
    if (edit % 10 === 9)
      for (const [to, from] of [people, [...people].reverse()])
        Y.applyUpdate(to, Y.encodeStateAsUpdate(from, Y.encodeStateVector(to)), 'other')
  }
  return updates
}

async function main() {
  let persistence = new LeveldbPersistence('docs')
  for (const [name, edits] of [
    ['notes', 40],
    ['minutes/2026', 400],
    ['gone', 10]
  ]) {
    for (const update of updatesOf(edits)) await persistence.storeUpdate(name, update)
    await persistence.setMeta(name, 'edited', { by: ['one', 'other'] })
  }
  await persistence.destroy()
  persistence = new LeveldbPersistence('docs')
  await persistence.clearDocument('gone')
  await persistence.delMeta('notes', 'edited')
  await persistence.flushDocument('notes')
  for (const name of ['notes', 'minutes/2026', 'gone']) {
    const document = await persistence.getYDoc(name)
    print(
      name,
      document.getText('body').toString(),
      [...(await persistence.getStateVector(name))],
      await persistence.getMeta(name, 'edited')
    )
    print('since the start', (await persistence.getDiff(name, Y.encodeStateVector(new Y.Doc()))).length)
  }
  print('names', (await persistence.getAllDocNames()).sort(), await persistence.getMetas('minutes/2026'))
  await persistence.destroy()
}

run(main)
