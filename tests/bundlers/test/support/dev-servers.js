// Development servers of bundlers, each started as its users start it, without a plugin for our packages. All serve the same program.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import commonjs from '@rollup/plugin-commonjs'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { context } from 'esbuild'
import { watch } from 'rollup'
import { createServer as createViteServer } from 'vite'
import webpack from 'webpack'
import WebpackDevServer from 'webpack-dev-server'
import { environment } from '../../../support/projects.mjs'
import { until } from '../../../support/waiting.mjs'
import { tools } from './project.js'

const HOST = '127.0.0.1'
const PAGE =
  '<!doctype html><html lang="en"><title>Test</title><link rel="icon" href="data:,"><script type="module" src="./program.js"></script></html>'

/** The files of a project that every server but Next's serves. */
export const projectOf = (program) => ({ 'program.js': program, 'index.html': PAGE })

/** A project of Next, whose page runs the program. */
export const nextProjectOf = (program) => ({
  'app/layout.js': `export default ({ children }) => <html lang="en"><head><link rel="icon" href="data:," /></head><body>{children}</body></html>`,
  'app/page.js': `'use client'
    import { useEffect } from 'react'
    export default function Page() {
      useEffect(() => void import('../program.js'), [])
      return null
    }
  `,
  'program.js': program
})

/** What the script starts and loads, put beside it, as docs/browser.md describes for tools that leave it alone. */
function copyScripts(directory, to) {
  mkdirSync(to, { recursive: true })
  const from = join(directory, 'node_modules', 'terrace', 'dist', 'browser')
  for (const file of readdirSync(from).filter((each) => each.startsWith('terrace')))
    copyFileSync(join(from, file), join(to, file))
}

/** Serves a directory, as any static server does. */
async function serveFiles(t, directory) {
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' }
  const server = createServer(({ url }, response) => {
    const path = url === '/' ? '/index.html' : url
    try {
      const body = readFileSync(join(directory, path))
      response.writeHead(200, { 'content-type': types[extname(path)] ?? 'text/plain' }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  server.listen(0, HOST)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://${HOST}:${server.address().port}/`
}

async function freePort() {
  const server = createServer().listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Starts a program that serves, and ends it with the test. Returns its address once it answers. */
async function start(t, directory, script, args) {
  const port = await freePort()
  const child = spawn(process.execPath, [script, ...args(port)], {
    cwd: directory,
    env: { ...environment, NEXT_TELEMETRY_DISABLED: '1', PARCEL_WORKERS: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // What it starts itself ends with it.
    detached: true
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const ended = once(child, 'exit')
  t.after(async () => {
    if (child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
    await ended
  })
  const url = `http://${HOST}:${port}/`
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the server has ended: ${output}`)
    return fetch(url).then(
      ({ ok }) => ok,
      () => false
    )
  }, `${script} to answer`)
  return url
}

const binary = (name) => {
  const require = createRequire(pathToFileURL(join(tools, 'x.js')))
  const manifest = require.resolve(`${name}/package.json`)
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
  return join(manifest, '..', typeof bin === 'string' ? bin : bin[name])
}

const vite = (config) => async (t, directory) => {
  const server = await createViteServer({
    root: directory,
    configFile: false,
    logLevel: 'error',
    server: { host: HOST, port: 0 },
    ...config
  })
  t.after(() => server.close())
  await server.listen()
  return server.resolvedUrls.local[0]
}

const next =
  (...options) =>
  (t, directory) =>
    start(t, directory, binary('next'), (port) => ['dev', ...options, '-H', HOST, '-p', String(port)])

/** Each starts a server in a project, which ends with the test, and returns the address of the page. */
export const servers = {
  Vite: vite({}),
  'Vite, which leaves the package alone': vite({ optimizeDeps: { exclude: ['terrace'] } }),

  async webpack(t, directory) {
    const compiler = webpack({
      context: directory,
      mode: 'development',
      entry: './program.js',
      output: { filename: 'program.js', publicPath: '/' }
    })
    const server = new WebpackDevServer(
      {
        host: HOST,
        port: await freePort(),
        static: directory,
        client: false,
        hot: false,
        liveReload: false,
        setupExitSignals: false
      },
      compiler
    )
    t.after(() => server.stop())
    compiler.hooks.infrastructureLog.tap('test', () => true)
    await server.start()
    return `http://${HOST}:${server.options.port}/`
  },

  async esbuild(t, directory) {
    const served = join(directory, 'esbuild')
    copyScripts(directory, served)
    writeFileSync(join(served, 'index.html'), PAGE)
    const building = await context({
      absWorkingDir: directory,
      entryPoints: ['program.js'],
      bundle: true,
      format: 'esm',
      outdir: served,
      logLevel: 'silent'
    })
    t.after(() => building.dispose())
    const { port } = await building.serve({ servedir: served, host: HOST })
    return `http://${HOST}:${port}/`
  },

  async Rollup(t, directory) {
    const served = join(directory, 'rollup')
    copyScripts(directory, served)
    writeFileSync(join(served, 'index.html'), PAGE)
    const watcher = watch({
      input: join(directory, 'program.js'),
      plugins: [nodeResolve({ browser: true, preferBuiltins: false }), commonjs()],
      output: { dir: served, format: 'es' },
      onwarn: ({ message }) => assert.fail(message)
    })
    t.after(() => watcher.close())
    await new Promise((resolve, reject) => {
      watcher.on('event', ({ code, error }) => {
        if (code === 'END') resolve()
        if (code === 'ERROR') reject(error)
      })
    })
    return serveFiles(t, served)
  },

  Parcel: (t, directory) =>
    start(t, directory, binary('parcel'), (port) => [
      'serve',
      'index.html',
      '--host',
      HOST,
      '--port',
      String(port),
      '--no-hmr',
      '--no-autoinstall'
    ])
}

export const nextServers = { Next: next('--turbopack'), 'Next with webpack': next('--webpack') }
