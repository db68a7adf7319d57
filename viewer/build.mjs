// Makes the viewer: one page, which has its styles, its scripts and the engine within it. It loads nothing, so it may be anywhere.
//
//   node viewer/build.mjs [DIRECTORY]        default viewer/dist

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { cargoBuild } from '../packages/terrace/scripts/cargo-build.mjs'
import { licencesOf } from '../scripts/licences.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))
const TARGET = 'wasm32-unknown-unknown'

/** Builds the page. Returns it as text. */
export async function buildViewer() {
  const library = cargoBuild(
    'terrace-wasm',
    /\.wasm$/,
    '--features',
    'directory',
    '--target',
    TARGET,
    '--profile',
    'wasm'
  )
  const engine = gzipSync(readFileSync(library), { level: 9 }).toString('base64')
  const worker = await bundle('src/worker/worker.js')
  const script = await bundle('src/page/main.js', {
    WORKER_SOURCE: JSON.stringify(worker.text),
    ENGINE_GZIPPED: JSON.stringify(engine)
  })
  const style = ['viewer.css', 'parts.css'].map((file) => readFileSync(join(here, file), 'utf8')).join('\n')
  // Only these scripts and styles run; the worker is made of a part of the script. Nothing can be loaded or sent.
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script.text)} 'wasm-unsafe-eval'`,
    `style-src ${hashOf(style)}`,
    'worker-src blob:',
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'"
  ].join('; ')
  const licences = [...new Set([...worker.licences, ...script.licences])].join('\n\n')
  const parts = {
    'content="POLICY"': `content="${policy}"`,
    '<!-- STYLE -->': `<style>${style}</style>`,
    '<!-- SCRIPT -->': `<script>${script.text}</script>`,
    '<!-- LICENCES -->': `<!--\n${licences.replaceAll('--', '- -')}-->`
  }
  return Object.entries(parts).reduce(
    (page, [place, part]) => {
      if (!page.includes(place)) throw new Error(`index.html has no ${place}`)
      return page.replace(place, () => part)
    },
    readFileSync(join(here, 'index.html'), 'utf8')
  )
}

async function bundle(entry, define = {}) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(here, entry)],
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2023',
    minify: true,
    legalComments: 'none',
    define,
    metafile: true,
    write: false,
    logLevel: 'warning'
  })
  // The text of a script ends where this begins.
  const text = outputFiles[0].text.replaceAll('</script', '<\\/script').trim()
  return { text, licences: licencesOf(root, [metafile]) }
}

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = resolve(process.argv[2] ?? join(here, 'dist'))
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'index.html')
  const page = await buildViewer()
  writeFileSync(file, page)
  console.log(`built ${file}, ${Math.ceil(page.length / 1024)} KiB`)
}
