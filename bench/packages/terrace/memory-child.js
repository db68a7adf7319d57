// One run of memory.js: fills one database and prints the memory that it took. Arguments: class, entries, bytes per value, order.

const [name, entries, valueBytes, order] = process.argv.slice(2)
const { MemoryLevel } = await import(name === 'memory-level' ? 'memory-level' : 'terrace')

const used = () => {
  global.gc()
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heapUsed, external }
}

/** All different, and without an order if they are to come at random. */
const numberOf = (i) => (order === 'random' ? Math.imul(i, 0x9e3779b1) >>> 0 : i)

async function run() {
  // A fresh class first: its code is not memory of entries.
  await new MemoryLevel({ valueEncoding: 'buffer' }).put('warm', Buffer.alloc(1))
  const before = used()
  const db = new MemoryLevel({ valueEncoding: 'buffer' })
  await db.open()
  const began = process.hrtime.bigint()
  for (let i = 0; i < Number(entries); i++) {
    const key = numberOf(i).toString().padStart(16, '0')
    await db.put(key, Buffer.alloc(Number(valueBytes), i))
    if (i % 10_000 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const micros = Number(process.hrtime.bigint() - began) / 1000 / Number(entries)
  const after = used()
  // Used once more, so that it is not collected before it is measured.
  await db.close()
  const perEntry = (field) => Math.round((after[field] - before[field]) / Number(entries))
  console.log(
    JSON.stringify({
      name,
      entries: Number(entries),
      valueBytes: Number(valueBytes),
      order,
      rssBytes: perEntry('rss'),
      heapBytes: perEntry('heapUsed'),
      externalBytes: perEntry('external'),
      microsPerPut: Math.round(micros * 100) / 100
    })
  )
}

run()
