// Yjs in y-leveldb: documents that two people edit at once, stored update by update.

import assert from 'node:assert/strict'
import { LeveldbPersistence } from 'y-leveldb'
import * as Y from 'yjs'
import { random } from './support/random.js'
import { takeTurns } from './support/turns.js'

/** Names, and how many edits each of two people makes. y-leveldb merges the updates of a document after more than 500. */
const DOCUMENTS = { notes: 40, 'minutes/2026': 700, 'Überschrift – 見出し': 150 }
const WORDS = ['ordered ', 'store ', 'of keys ', 'and ', 'values ', 'größer ', '値 ', '\n']

/**
 * The updates of a document, in the order in which a server receives them. Two people edit it, and exchange their edits after
 * every ten of each.
 */
function updatesOf(name, edits) {
  const next = random(name)
  const updates = []
  const people = [1, 2].map((clientID) => Object.assign(new Y.Doc(), { clientID }))
  for (const person of people) {
    person.on('update', (update, origin) => {
      if (origin !== 'other') updates.push(update)
    })
  }

  for (let edit = 0; edit < edits; edit++) {
    for (const person of people) change(person, next, edit)
    if (edit % 10 === 9) exchange(people)
  }
  return updates
}

/** Types a word, deletes some letters, or sets a field. */
function change(person, next, edit) {
  const body = person.getText('body')
  const at = next(body.length + 1)
  if (edit % 5 === 4 && at + 3 < body.length) body.delete(at, 3)
  else if (edit % 7 === 6) person.getMap('fields').set(`field ${next(10)}`, edit)
  else body.insert(at, WORDS[next(WORDS.length)])
}

/** Both receive everything that the other wrote. */
function exchange([one, other]) {
  Y.applyUpdate(one, Y.encodeStateAsUpdate(other, Y.encodeStateVector(one)), 'other')
  Y.applyUpdate(other, Y.encodeStateAsUpdate(one, Y.encodeStateVector(other)), 'other')
}

const updates = Object.entries(DOCUMENTS).map(([name, edits]) => [name, updatesOf(name, edits)])
const halves = updates.map(([name, all]) => [name, all.slice(0, all.length >> 1), all.slice(all.length >> 1)])
const GONE = 'thrown away'

/** The contents of a document. */
const contentOf = (document) => ({
  body: document.getText('body').toString(),
  fields: document.getMap('fields').toJSON()
})

// y-leveldb prints an error of the database and continues. Here that must not happen.
console.warn = (_, error) => {
  throw error
}

takeTurns('y-leveldb', {
  open: async (DatabaseClass, directory) => new LeveldbPersistence(directory, { Level: DatabaseClass }),

  close: (persistence) => persistence.destroy(),

  async begin(persistence) {
    for (const [name, early] of halves) {
      for (const update of early) await persistence.storeUpdate(name, update)
      await persistence.setMeta(name, 'edited', { by: ['one', 'other'], times: early.length })
    }
    for (const update of halves[0][1]) await persistence.storeUpdate(GONE, update)
    await persistence.flushDocument(halves[0][0])
  },

  async goOn(persistence) {
    for (const [name, , late] of halves) {
      await Promise.all(late.map((update) => persistence.storeUpdate(name, update)))
      await persistence.setMeta(name, 'finished', true)
    }
    await persistence.delMeta(halves[1][0], 'edited')
    await persistence.clearDocument(GONE)
  },

  async answers(persistence) {
    const documents = {}
    for (const [name] of updates) {
      documents[name] = {
        content: contentOf(await persistence.getYDoc(name)),
        vector: [...(await persistence.getStateVector(name))],
        metas: Object.fromEntries(await persistence.getMetas(name)),
        edited: await persistence.getMeta(name, 'edited')
      }
    }
    return { documents, names: await persistence.getAllDocNames() }
  },

  check({ documents, names }) {
    assert.deepEqual([...names].sort(), Object.keys(DOCUMENTS).sort())
    for (const [name, all] of updates) {
      const document = new Y.Doc()
      for (const update of all) Y.applyUpdate(document, update)
      assert.deepEqual(documents[name].content, contentOf(document))
      assert.deepEqual(documents[name].vector, [...Y.encodeStateVector(document)])
      assert.equal(documents[name].metas.finished, true)
    }
    assert.equal(documents[updates[1][0]].edited, undefined)
    assert.ok(updates[1][1].length > 1000)
  }
})
