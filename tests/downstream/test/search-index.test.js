// search-index, and with it fergies-inverted-index: full-text search in the paragraphs of documents.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { SearchIndex } from 'search-index'
import { paragraphs } from './support/paragraphs.js'
import { takeTurns } from './support/turns.js'

const PUT_AT_ONCE = 50
const ALL = { PAGE: { NUMBER: 0, SIZE: 100_000 } }
const input = paragraphs()
const half = input.length >> 1
const early = input.slice(0, half)
const late = input.slice(half)

// The second half of the work deletes some of the early paragraphs, and gives others a different text.
const deleted = early.filter((_, index) => index % 8 === 3)
const changed = early.filter((_, index) => index % 8 === 5)
const CHANGED_TEXT = 'Neuer Absatz über Quittungen'
const rewritten = changed.map((one) => ({ ...one, text: CHANGED_TEXT }))

/** The paragraphs that exist in the end. */
const remaining = input
  .filter((one) => !deleted.includes(one))
  .map((one) => (changed.includes(one) ? { ...one, text: CHANGED_TEXT } : one))

const wordsOf = ({ text }) => text.toLowerCase().match(/[\p{L}\d]+/gu) ?? []
const idsWith = (...words) =>
  remaining.filter((one) => words.every((word) => wordsOf(one).includes(word))).map(({ _id }) => _id)

const inText = (...words) => words.map((word) => `text:${word}`)

/** Queries by word, with scores, by field and by range. Results without a defined order are sorted. */
async function answers(index) {
  const ids = async (query) => (await index.QUERY(query, ALL)).RESULT.map(({ _id }) => _id).sort()
  const found = await index.SEARCH(inText('iterator', 'snapshot'))
  return {
    count: await index.DOCUMENT_COUNT(),
    one: await ids({ AND: inText('quittungen') }),
    both: await ids({ AND: inText('the', 'database') }),
    either: await ids({ OR: inText('snapshot', 'quittungen') }),
    but: await ids({ NOT: { INCLUDE: 'text:the', EXCLUDE: 'text:database' } }),
    range: await ids({ FIELD: 'text', VALUE: { GTE: 'comp', LTE: 'compz' } }),
    scored: found.RESULT.map(({ _id, _score }) => [_id, _score]),
    documents: await index.DOCUMENTS(remaining[0]._id, changed[0]._id, deleted[0]._id),
    words: await index.DICTIONARY({ FIELD: ['text'] }),
    facets: await index.FACETS({ FIELD: 'document' }),
    fields: await index.FIELDS()
  }
}

takeTurns('search-index', {
  async open(DatabaseClass, directory) {
    const index = new SearchIndex({ name: directory, Level: DatabaseClass })
    await once(index.EVENTS, 'ready')
    return index
  },

  close: (index) => index.INDEX.STORE.close(),

  async begin(index) {
    await putAll(index, early)
  },

  async goOn(index) {
    // A document that is put again keeps its old words in any database, so it is deleted first.
    await index.DELETE(...[...deleted, ...changed].map(({ _id }) => _id))
    await putAll(index, rewritten)
    await putAll(index, late)
  },

  answers,

  check({ count, one, both, either, but, documents, words }) {
    assert.ok(remaining.length > 300, `${remaining.length} paragraphs`)
    assert.equal(count, remaining.length)
    assert.deepEqual(one, changed.map(({ _id }) => _id).sort())
    assert.deepEqual(both, idsWith('the', 'database').sort())
    assert.deepEqual(either, [...new Set([...idsWith('snapshot'), ...one])].sort())
    assert.deepEqual(
      but,
      idsWith('the')
        .filter((id) => !both.includes(id))
        .sort()
    )
    assert.deepEqual(documents[0], remaining[0])
    assert.equal(documents[1].text, CHANGED_TEXT)
    assert.equal(documents[2], undefined)
    assert.deepEqual([...words.RESULT].sort(), [...new Set(remaining.flatMap(wordsOf))].sort())
  },

  // Keys of times, in charwise's encoding.
  isTime: (key) => /CREATED|LAST_UPDATED/.test(key.toString('latin1'))
})

/** Puts documents, this many at once. */
async function putAll(index, documents) {
  for (let at = 0; at < documents.length; at += PUT_AT_ONCE) {
    await index.PUT(documents.slice(at, at + PUT_AT_ONCE))
  }
}
