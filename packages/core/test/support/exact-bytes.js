// What must hold of keys and values in every database, wherever it runs: a view of any kind is exactly its bytes, and what an encoding cannot
// store is refused, by every method. It uses nothing of Node, since pages run it as well.

/** The twelve kinds of view. */
export const kinds = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView
]

const hasSharedMemory = 'SharedArrayBuffer' in globalThis
/** Pages have none, but for what bundlers give their modules. */
const hasBuffer = 'Buffer' in globalThis

/** Memory in which bytes lie amid others. */
function memoryWith(bytes, Memory) {
  const memory = new Uint8Array(new Memory(bytes.length + 40)).fill(0xee)
  memory.set(bytes, 16)
  return memory.buffer
}

/** A view that shows these bytes, amid others. */
export function viewOf(View, bytes, Memory = ArrayBuffer) {
  return new View(memoryWith(bytes, Memory), 16, bytes.length / (View.BYTES_PER_ELEMENT ?? 1))
}

export const few = Uint8Array.from({ length: 24 }, (_, index) => index * 9 + 1)
/** More than V8 keeps on its heap. */
const many = Uint8Array.from({ length: 72 }, (_, index) => 255 - index)
const nothing = new Uint8Array(0)

/**
 * Views by what they are, each with the bytes that it shows.
 *
 * @param realm - The global object of another realm.
 */
export function viewsWith(realm) {
  const views = kinds.map((View) => [View.name, viewOf(View, few), few])
  views.push(
    ['a Uint8Array of its own', Uint8Array.from(few), few],
    ['a Float32Array of its own', new Float32Array(few.slice().buffer), few],
    ['a large Uint8Array', viewOf(Uint8Array, many), many],
    ['a large Float64Array', viewOf(Float64Array, many), many],
    ['an empty Uint8Array', viewOf(Uint8Array, nothing), nothing],
    ['an empty DataView', viewOf(DataView, nothing), nothing],
    ['a Uint8Array of another realm', viewOf(realm.Uint8Array, few), few],
    ['a Float32Array of another realm', viewOf(realm.Float32Array, few), few],
    ['a DataView of another realm', viewOf(realm.DataView, few), few],
    ['memory of another realm', viewOf(Uint8Array, few, realm.ArrayBuffer), few],
    ['large memory of another realm', viewOf(Uint8Array, many, realm.ArrayBuffer), many],
    ['an array and memory of another realm', viewOf(realm.Int16Array, few, realm.ArrayBuffer), few]
  )
  if (hasSharedMemory) {
    views.push(
      ['a Uint8Array over shared memory', viewOf(Uint8Array, few, SharedArrayBuffer), few],
      ['a large Uint8Array over shared memory', viewOf(Uint8Array, many, SharedArrayBuffer), many],
      ['a Float32Array over shared memory', viewOf(Float32Array, few, SharedArrayBuffer), few],
      ['a DataView over shared memory', viewOf(DataView, few, SharedArrayBuffer), few]
    )
  }
  if (hasBuffer) {
    views.push(
      ['a Buffer', Buffer.from(few), few],
      ['a large Buffer', Buffer.from(memoryWith(many, ArrayBuffer), 16, many.length), many],
      ['a Buffer over shared memory', Buffer.from(memoryWith(few, SharedArrayBuffer), 16, few.length), few]
    )
  }
  return views
}

const raw = { keyEncoding: 'view', valueEncoding: 'view' }

/** Calls `run` while a hook function and a listener see what is written. */
async function seen(db, run, hook = () => {}) {
  const listen = () => {}
  db.hooks.prewrite.add(hook)
  db.on('write', listen)
  try {
    return await run()
  } finally {
    db.hooks.prewrite.delete(hook)
    db.off('write', listen)
  }
}

/** Ways to store a value under a key. */
export const writes = {
  put: (db, key, value, options) => db.put(key, value, options),
  batch: (db, key, value, options) => db.batch([{ type: 'put', key, value }], options),
  'batch with options of its own': (db, key, value, options) =>
    db.batch([{ type: 'put', key, value, ...options }]),
  'batch of the root': (db, key, value, options) =>
    (db.db ?? db).batch([{ type: 'put', key, value, ...options, sublevel: db.db && db }]),
  'chained batch': (db, key, value, options) => db.batch().put(key, value, options).write(),
  'hooked put': (db, key, value, options) => seen(db, () => db.put(key, value, options)),
  'hooked chained batch': (db, key, value, options) =>
    seen(db, () => db.batch().put(key, value, options).write()),
  'a hook function that adds it': (db, key, value, options) =>
    seen(
      db,
      () => db.del('something else'),
      ({ type }, batch) => type === 'del' && batch.add({ type: 'put', key, value, ...options })
    ),
  'put under a condition': (db, key, value, options) =>
    db.put(key, value, { ...options, if: [{ ...options, key, exists: false }] }),
  update: (db, key, value, options) => db.update(key, () => value, options),
  putSync: (db, key, value, options) => db.putSync(key, value, options),
  batchSync: (db, key, value, options) => db.batchSync([{ type: 'put', key, value, ...options }])
}

/** Ways to delete a key. */
const deletions = {
  del: (db, key, options) => db.del(key, options),
  'batch that deletes': (db, key, options) => db.batch([{ type: 'del', key }], options),
  'chained batch that deletes': (db, key, options) => db.batch().del(key, options).write(),
  'hooked del': (db, key, options) => seen(db, () => db.del(key, options)),
  'del under a condition': (db, key, options) =>
    db.del(key, { ...options, if: [{ ...options, key, exists: true }] }),
  'update that deletes': (db, key, options) => db.update(key, () => undefined, options),
  delSync: (db, key, options) => db.delSync(key, options),
  clear: (db, key, options) => db.clear({ ...options, gte: key, lte: key })
}

/** Ways to name a key or a bound in a read, or in the deletion of a range. */
const reads = {
  get: (db, key, options) => db.get(key, options),
  getMany: (db, key, options) => db.getMany([key], options),
  has: (db, key, options) => db.has(key, options),
  hasMany: (db, key, options) => db.hasMany([key], options),
  seek: async (db, key, options) => {
    const iterator = db.iterator(options)
    try {
      iterator.seek(key)
    } finally {
      await iterator.close()
    }
  },
  getEntry: (db, key, options) => db.getEntry(key, options),
  'condition on a key': (db, key, options) => db.batch([], { if: [{ ...options, key, exists: false }] }),
  getSync: (db, key, options) => db.getSync(key, options)
}
for (const bound of ['gt', 'gte', 'lt', 'lte']) {
  reads[`clear, ${bound}`] = (db, key, options) => db.clear({ ...options, [bound]: key })
  for (const method of ['iterator', 'keys', 'values']) {
    reads[`${method}, ${bound}`] = (db, key, options) => db[method]({ ...options, [bound]: key }).all()
  }
}

/** The ways that a database has. */
export function ofThese(table, { supports }) {
  const has = { ...supports.additionalMethods, getSync: supports.getSync }
  const isThere = (name) => {
    if (name.includes('condition')) return supports.conditionalWrites === true
    const [method] = name.split(' ')
    return !/Sync$|^update$|^getEntry$/.test(method) || has[method] === true
  }
  return Object.entries(table).filter(([name]) => isThere(name))
}

function same(actual, expected, what) {
  const [found, wanted] = [textOf(actual), textOf(expected)]
  if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`)
}

function textOf(value) {
  return JSON.stringify(value, (_, each) => (each instanceof Uint8Array ? hexOf(each) : each))
}

const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Stores views of all kinds, as keys and as values, in all ways. */
export async function checkStored(db, encoding, views) {
  const options = { keyEncoding: encoding, valueEncoding: encoding }
  for (const space of [db, db.sublevel('part')]) {
    await space.open()
    for (const [kind, view, bytes] of views) {
      for (const [way, write] of ofThese(writes, db)) {
        await write(space, view, view, options)
        const stored = await space.iterator(raw).all()
        same(
          stored.map(([key, value]) => [hexOf(key), hexOf(value)]),
          [[hexOf(bytes), hexOf(bytes)]],
          `${kind}, ${way}`
        )
        await space.clear()
      }
    }
  }
}

/** Looks for views of all kinds, and deletes them, in all ways. */
export async function checkFound(db, encoding, views) {
  const options = { keyEncoding: encoding }
  for (const space of [db, db.sublevel('part')]) {
    await space.open()
    for (const [kind, view, bytes] of views) {
      const entries = [
        { type: 'put', key: bytes, value: 'v', keyEncoding: 'view' },
        { type: 'put', key: Uint8Array.of(...bytes, 0), value: 'next', keyEncoding: 'view' }
      ]
      for (const [way, remove] of ofThese(deletions, db)) {
        await space.batch(entries)
        await remove(space, view, options)
        same(await space.values().all(), ['next'], `${kind}, ${way}`)
      }

      await space.batch(entries)
      same(await space.get(view, options), 'v', kind)
      if (db.supports.getSync) same(space.getSync(view, options), 'v', kind)
      same(await space.getMany([view], options), ['v'], kind)
      same(await space.has(view, options), true, kind)
      same(await space.hasMany([view], options), [true], kind)
      const ranges = { gte: ['v', 'next'], gt: ['next'], lte: ['v'], lt: [] }
      for (const [bound, expected] of Object.entries(ranges)) {
        const range = { ...options, [bound]: view }
        same(await space.values(range).all(), expected, `${kind}, ${bound}`)
        same((await space.keys(range).all()).length, expected.length, `${kind}, ${bound}`)
        same((await space.iterator(range).all()).length, expected.length, `${kind}, ${bound}`)
      }
      const iterator = space.values({ ...options, reverse: true })
      iterator.seek(view)
      same(await iterator.next(), 'v', `${kind}, seek`)
      await iterator.close()
      await space.clear()
    }
  }
}

/** An encoding that returns the same for everything. */
export const returning = (result, format) => ({
  name: 'odd',
  format,
  encode: () => result,
  decode: (data) => data
})

function transferred(View) {
  const view = new View(8)
  structuredClone(view.buffer, { transfer: [view.buffer] })
  return view
}

/** What encodings refuse: the data, the encoding, and what the message says besides. */
export const refused = [
  [() => {}, 'json', 'a function'],
  [Symbol('x'), 'json', 'a symbol'],
  [{ toJSON: () => undefined }, 'json', 'an object'],
  [Symbol('x'), 'utf8', 'a symbol'],
  [5, 'view', 'a number'],
  [5, 'buffer', 'a number'],
  [true, 'view', 'a boolean'],
  [new ArrayBuffer(4), 'view', 'an object of ArrayBuffer'],
  [[1, 2], 'buffer', 'an array'],
  [{}, 'view', 'an object'],
  [5, 'hex', 'a number'],
  [5, 'base64', 'a number'],
  ['xyz', 'hex', 'two hexadecimal digits'],
  ['abc', 'hex', 'two hexadecimal digits'],
  ['a!b=', 'base64', 'base64'],
  ['a', 'base64', 'base64'],
  // The same bytes as QQ==.
  ['QR==', 'base64', 'base64'],
  ['\ud800', 'utf8', 'a lone surrogate'],
  ['a\udc00b', 'view', 'a lone surrogate'],
  ['\ud83d', 'buffer', 'a lone surrogate'],
  [transferred(Float32Array), 'view', 'an object of Float32Array'],
  [transferred(Uint8Array), 'buffer', 'an object of Uint8Array'],
  ...['utf8', 'buffer', 'view'].flatMap((format) => [
    ['x', returning(null, format), 'null for a string'],
    ['x', returning(undefined, format), 'undefined for a string'],
    [{}, returning(7, format), 'a number for an object'],
    ['x', returning([1], format), 'an array for a string'],
    ['x', returning(new ArrayBuffer(2), format), 'an object of ArrayBuffer for a string'],
    ['x', returning('\ud800', format), 'a lone surrogate']
  ]),
  ['x', returning(Uint8Array.of(0xff), 'utf8'), 'UTF-8']
]

/** No value at all. */
const missing = [null, undefined].flatMap((value) =>
  ['utf8', 'json', 'view', 'buffer', 'hex', returning('x', 'utf8')].map((encoding) => [
    value,
    encoding,
    String(value)
  ])
)

async function checkRefusal(call, code, parts, what) {
  let error
  try {
    await call()
  } catch (thrown) {
    error = thrown.code === 'LEVEL_HOOK_ERROR' ? thrown.cause : thrown
  }
  if (error?.code !== code || !parts.every((part) => error.message.includes(part))) {
    throw new Error(`${what}: ${error?.code} ${error?.message}`, { cause: error })
  }
}

const nameOf = (encoding) => encoding.name ?? encoding

/** Tries to store what encodings refuse, as keys and as values, and to look for it, in all ways. Nothing changes. */
export async function checkRefused(db) {
  await db.put('kept', 'before')
  for (const [index, [value, encoding, problem]] of [...refused, ...missing].entries()) {
    const named = `'${nameOf(encoding)}'`
    // An update first decodes what is there, and deletes it for undefined.
    for (const [way, write] of ofThese(writes, db).filter(([way]) => way !== 'update')) {
      const what = `${index}: ${problem}, value with ${named}, ${way}`
      const call = () => write(db, 'kept', value, { valueEncoding: encoding })
      await checkRefusal(call, 'LEVEL_INVALID_VALUE', ['"kept"', named, problem], what)
      same(await db.get('kept'), 'before', what)
    }
    if (index >= refused.length) continue

    for (const [way, call] of ofThese({ ...writes, ...deletions, ...reads }, db)) {
      const what = `${index}: ${problem}, key with ${named}, ${way}`
      const options = { keyEncoding: encoding }
      const attempt = () => (way in writes ? call(db, value, 'v', options) : call(db, value, options))
      await checkRefusal(attempt, 'LEVEL_INVALID_KEY', [named, problem], what)
    }
  }
  same(await db.iterator().all(), [['kept', 'before']], 'at the end')
}
