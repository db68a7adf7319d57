/** What the build puts into the page: the worker's script, and the engine. */

/** Where the worker's script is. Made by the page, the worker is under the page's policy: it can load and send nothing. */
export const workerUrl = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: 'text/javascript' }))

let compiled

/** The engine, compiled once. */
export function compiledEngine() {
  compiled ??= compile()
  return compiled
}

async function compile() {
  const gzipped = Uint8Array.from(atob(ENGINE_GZIPPED), (character) => character.charCodeAt(0))
  const stream = new Blob([gzipped]).stream().pipeThrough(new DecompressionStream('gzip'))
  return WebAssembly.compile(await new Response(stream).arrayBuffer())
}
