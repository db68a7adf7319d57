import { servedClass } from '../served.js'

export const Database = servedClass(
  new URL('../../../packages/terrace/test/targets/measured-memory.js', import.meta.url).href
)
