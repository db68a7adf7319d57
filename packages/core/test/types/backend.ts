// Checked by the compiler, not run: a back-end and a database over it in TypeScript.

import {
  type Backend,
  BackendLevel,
  type BackendSnapshot,
  type Bytes,
  type Operations,
  type Page,
  type Sublevel
} from 'terrace-core'

interface Numbered extends BackendSnapshot {
  readonly number: number
}

/** A back-end whose every answer is a promise, with its own type of snapshots. */
class Later implements Backend<Numbered> {
  readonly manifest = { encodings: { view: true } }
  async open(): Promise<void> {}
  async close(): Promise<void> {}

  async get(_key: Bytes, _options: object, snapshot?: Numbered): Promise<Bytes | undefined> {
    return snapshot?.number === 1 ? new Uint8Array() : undefined
  }

  async getMany(keys: Bytes[]): Promise<Array<Bytes | undefined>> {
    return keys.map(() => undefined)
  }

  async has(): Promise<boolean> {
    return false
  }

  async hasMany(keys: Bytes[]): Promise<boolean[]> {
    return keys.map(() => false)
  }

  async write(_operations: Operations, _sync: boolean): Promise<void> {}

  cursor(): { read(size: number): Promise<Page>; seek(target: Bytes): void; close(): void } {
    return { read: async () => [true, undefined], seek: () => undefined, close: () => undefined }
  }

  snapshot(): Numbered {
    return { number: 1, close: () => undefined }
  }
}

class NumberLevel extends BackendLevel<string, number> {
  constructor() {
    super(new Later(), { valueEncoding: 'json' }, { number: true })
  }

  async number(): Promise<number | undefined> {
    return this.get('number')
  }
}

export async function use(): Promise<void> {
  const db = new NumberLevel()
  const number: number | undefined = (await db.get('key', { fillCache: false })) ?? (await db.number())
  const sublevel: Sublevel<unknown, string, string> = db.sublevel('a')
  await sublevel.put('key', String(number), { sync: true })
  db.hooks.prewrite.add(() => undefined, { everyWrite: db.supports.everyWrite })

  // @ts-expect-error a value is a number
  await db.put('key', 'value')
  // @ts-expect-error a back-end needs more than this
  new BackendLevel({ manifest: { encodings: {} } })
  // @ts-expect-error not a public method
  db._get('key', {})
}
