import { servedClass } from '../served.js'

export const Database = servedClass(new URL('level.js', import.meta.url).href)
