// quadstore: a graph of packages, matched by patterns and ranges, and asked in SPARQL.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { Quadstore } from 'quadstore'
import { Engine } from 'quadstore-comunica'
import { DataFactory } from 'rdf-data-factory'
import { packages } from './support/packages.js'
import { takeTurns } from './support/turns.js'

const factory = new DataFactory()
const INTEGER = factory.namedNode('http://www.w3.org/2001/XMLSchema#integer')
const BASE = 'https://packages.example/'
const term = (kind, name) => factory.namedNode(`${BASE}${kind}/${encodeURIComponent(name)}`)
const NAME = term('says', 'name')
const LICENSE = term('says', 'license')
const DEPENDS_ON = term('says', 'dependsOn')
const COUNT = term('says', 'count')
const integer = (number) => factory.literal(String(number), INTEGER)

/** The statements about a package, in the graph of its lock file. `count` stands for the number of its dependencies. */
function quadsOf({ lock, name, version, license, dependencies }, count = dependencies.length) {
  const say = (predicate, object) =>
    factory.quad(term('package', `${name}@${version}`), predicate, object, term('lock', lock))
  return [
    say(NAME, factory.literal(name)),
    say(LICENSE, factory.literal(license)),
    say(COUNT, integer(count)),
    ...dependencies.map((dependency) => say(DEPENDS_ON, factory.literal(dependency)))
  ]
}

/** Not up to 10, which quadstore 15.4 sorts before 2, whatever the database. */
const SOME = { termType: 'Range', gte: integer(3), lte: integer(9) }

const input = packages()
const half = input.length >> 1
const early = input.slice(0, half)
const late = input.slice(half)

// The second half of the work removes some of the early packages, and changes the statements about others.
const removed = early.filter((_, index) => index % 10 === 3)
const changed = early.filter((_, index) => index % 10 === 5)
const CHANGED_COUNT = 1000

/** The packages that exist in the end. */
const remaining = input.filter((one) => !removed.includes(one))
const finalQuads = remaining.flatMap((one) => quadsOf(one, changed.includes(one) ? CHANGED_COUNT : undefined))

const text = ({ subject, predicate, object, graph }) =>
  [subject, predicate, object, graph].map(({ value }) => value).join(' ')
const texts = (quads) => quads.map(text).sort()

/** Everything that patterns find. Orders that quadstore promises are kept; others are not compared. */
async function patterns(store) {
  const find = async (pattern, options) => (await store.get(pattern, options)).items.map(text)
  const unordered = async (pattern) => (await find(pattern)).sort()
  return {
    all: await unordered({}),
    graph: await unordered({ graph: term('lock', 'root') }),
    subject: await unordered({ subject: quadsOf(late[0])[0].subject }),
    licensed: await unordered({ predicate: LICENSE, object: factory.literal('MIT') }),
    range: await unordered({ predicate: COUNT, object: SOME }),
    first: await find({ predicate: NAME }, { order: ['object'], limit: 20 }),
    last: await find({ predicate: NAME }, { order: ['object'], reverse: true, limit: 20 }),
    matched: texts(await store.match(undefined, COUNT, integer(CHANGED_COUNT)).toArray())
  }
}

const QUERIES = {
  licenses: `SELECT ?license (COUNT(DISTINCT ?package) AS ?packages) WHERE {
    GRAPH ?lock { ?package <${LICENSE.value}> ?license }
  } GROUP BY ?license ORDER BY DESC(?packages) ?license`,

  ofISC: `SELECT DISTINCT ?dependency WHERE {
    GRAPH ?lock { ?package <${DEPENDS_ON.value}> ?dependency . ?other <${NAME.value}> ?dependency ; <${LICENSE.value}> "ISC" }
  } ORDER BY ?dependency`,

  needMany: `SELECT DISTINCT ?name WHERE {
    GRAPH ?lock { ?package <${COUNT.value}> ?count ; <${NAME.value}> ?name . FILTER(?count > 5 && ?count < ${CHANGED_COUNT}) }
  } ORDER BY ?name`
}

/** Everything that SPARQL finds. */
async function sparql(store) {
  const engine = new Engine(store)
  const answers = {}
  for (const [name, query] of Object.entries(QUERIES)) {
    const bindings = await (await engine.queryBindings(query)).toArray()
    answers[name] = bindings.map((row) =>
      [...row].map(([variable, { value }]) => `${variable.value}=${value}`).sort()
    )
  }
  return answers
}

// What SPARQL must find, computed without it.
const valuesOf = (rows) => rows.map(([binding]) => binding.split('=')[1]).sort()
const unique = (names) => [...new Set(names)].sort()
const needsMany = (one) => one.dependencies.length > 5 && !changed.includes(one)
const isISC = (lock, name) =>
  remaining.some((one) => one.lock === lock && one.name === name && one.license === 'ISC')
const dependenciesOfISC = ({ lock, dependencies }) => dependencies.filter((name) => isISC(lock, name))

takeTurns('quadstore', {
  async open(DatabaseClass, directory) {
    const store = new Quadstore({ backend: new DatabaseClass(directory), dataFactory: factory })
    await store.open()
    return store
  },

  close: (store) => store.close(),

  async begin(store) {
    for (const one of early) await store.multiPut(quadsOf(one))
  },

  async goOn(store) {
    for (const one of removed) await store.multiDel(quadsOf(one))
    for (const one of changed) await store.multiPatch(quadsOf(one), quadsOf(one, CHANGED_COUNT))
    await store.putStream(Readable.from(late.flatMap((one) => quadsOf(one))), { batchSize: 100 })
  },

  answers: async (store) => ({ patterns: await patterns(store), sparql: await sparql(store) }),

  check(answers) {
    const { all, range, first, matched } = answers.patterns
    assert.ok(all.length > 2000, `${all.length} quads`)
    assert.deepEqual(all, texts(finalQuads))
    assert.equal(matched.length, changed.length)
    assert.equal(first.length, 20)

    const counts = remaining.map((one) => (changed.includes(one) ? CHANGED_COUNT : one.dependencies.length))
    assert.equal(range.length, counts.filter((count) => count >= 3 && count <= 9).length)

    const { licenses, ofISC, needMany } = answers.sparql
    assert.equal(licenses.length, new Set(remaining.map(({ license }) => license)).size)
    assert.deepEqual(valuesOf(ofISC), unique(remaining.flatMap(dependenciesOfISC)))
    assert.deepEqual(valuesOf(needMany), unique(remaining.filter(needsMany).map(({ name }) => name)))
  }
})
