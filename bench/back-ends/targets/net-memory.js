import { servedClass } from '../served.js'

export const Database = servedClass(new URL('memory.js', import.meta.url).href)
