/** What is loaded when it is needed: the compiled modules, which all databases of a page share, and scripts. */

import { browserError } from './errors.js'

/** Gets a compiled module. */
export type ModuleLoader = () => Promise<WebAssembly.Module>

// Bundlers recognise this form, and bring the files along.

/** Gets the module of databases in memory, once. */
export const loadMap = once(() => new URL('./terrace-memory.wasm', import.meta.url))

/** Gets the module of databases on files, once. */
export const loadStore = once(() => new URL('./terrace.wasm', import.meta.url))

/** A failure is not kept: the next call tries again. */
function once(locate: () => URL): ModuleLoader {
  let compiled: Promise<WebAssembly.Module> | undefined
  return () => {
    compiled ??= load(locate()).catch((error) => {
      compiled = undefined
      throw error
    })
    return compiled
  }
}

/**
 * Loads a script by `import()`.
 *
 * @throws LEVEL_IO_ERROR if the site does not serve it, or its Content Security Policy forbids it.
 */
export async function loadScript<T>(name: string, load: () => Promise<T>): Promise<T> {
  return load().catch((error) => {
    throw failed(
      `The script ${name} cannot be loaded: ${error}`,
      "serve it beside terrace.js; a Content Security Policy needs script-src 'self'",
      error
    )
  })
}

/** @throws LEVEL_NOT_SUPPORTED if the browser has no WebAssembly. LEVEL_IO_ERROR if the file cannot be loaded or compiled. */
async function load(url: URL): Promise<WebAssembly.Module> {
  if (globalThis.WebAssembly === undefined) {
    throw browserError('LEVEL_NOT_SUPPORTED', 'the browser has no WebAssembly, or has turned it off')
  }
  const bytes = await fetched(url)
  try {
    // Not compileStreaming(): servers that do not know the type of the file make it fail.
    return await WebAssembly.compile(bytes)
  } catch (error) {
    const remedy = isWebAssembly(bytes)
      ? "a Content Security Policy needs script-src 'wasm-unsafe-eval'"
      : 'the server sends something else in its place: serve the file of this version of the package there'
    throw failed(`${url} cannot be compiled: ${error}`, remedy, error)
  }
}

async function fetched(url: URL): Promise<ArrayBuffer> {
  const remedy =
    "serve the file of this version of the package there; a Content Security Policy needs connect-src 'self'"
  let response: Response
  try {
    response = await fetch(url)
  } catch (error) {
    throw failed(`${url} cannot be loaded: ${error}`, remedy, error)
  }
  if (!response.ok) throw failed(`${url} cannot be loaded: the server answers ${response.status}`, remedy)
  return response.arrayBuffer()
}

/** Whether the bytes begin as every module does. */
function isWebAssembly(bytes: ArrayBuffer): boolean {
  return bytes.byteLength >= 4 && new DataView(bytes).getUint32(0) === 0x0061736d
}

function failed(message: string, remedy: string, cause?: unknown): Error {
  return browserError('LEVEL_IO_ERROR', `${message} (${remedy})`, cause)
}
