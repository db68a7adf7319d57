// A database of a tab, as terrace-core's tests take another one.

import { TabLevel } from './page.js'

export const name = 'a tab'
export const supports = { getSync: false, putSync: false, everyWrite: false, conditionalWrites: true }

export class Database extends TabLevel {
  constructor(_location, options) {
    super(options)
  }
}
