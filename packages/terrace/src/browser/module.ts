/** The compiled modules. All databases of a page share them; each has an instance of its own. */

/** Gets a compiled module. */
export type ModuleLoader = () => Promise<WebAssembly.Module>

// Bundlers know this form, and bring the files along.

/** Gets the module of databases in memory, once. */
export const loadMap = once(() => new URL('./memory.wasm', import.meta.url))

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

async function load(url: URL): Promise<WebAssembly.Module> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} cannot be loaded: the server answers ${response.status}`)
  // Not compileStreaming(): servers that do not know the type of the file make it fail.
  return WebAssembly.compile(await response.arrayBuffer())
}
