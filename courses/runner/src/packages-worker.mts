/** Resolves imports where Node has no hooks in the program's own thread. See `preload`. */

import type { InitializeHook, ResolveHook } from 'node:module'
import { pathToFileURL } from 'node:url'
import { isAmong, type Packages } from './packages.js'

let packages: Packages = { names: [], from: '' }

export const initialize: InitializeHook<Packages> = (given) => {
  packages = given
}

export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context)
  } catch (error) {
    if (!isAmong(specifier, packages)) throw error
    return next(specifier, { ...context, parentURL: pathToFileURL(`${packages.from}/`).href })
  }
}
