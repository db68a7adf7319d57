import { text } from './text.mjs'

console.log(text)
