// A registry of npm packages on loopback. It has the packages that are installed here and in the repository, and the archives of ours,
// so npm resolves names, aliases and overrides as it does for users, without a network.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

/** The manifests below these `node_modules`, and in these archives: name, version, and where each is. */
function collected(modules, archives) {
  const packages = new Map()
  const add = (manifest, place) => {
    if (manifest.name === undefined || manifest.version === undefined) return
    const versions = packages.get(manifest.name) ?? new Map()
    packages.set(manifest.name, versions)
    if (!versions.has(manifest.version)) versions.set(manifest.version, { manifest, ...place })
  }
  const walk = (directory) => {
    if (!existsSync(directory)) return
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      // Links lead to packages of ours, which come from archives.
      if (!entry.isDirectory() || entry.name.startsWith('.')) continue
      const one = join(directory, entry.name)
      if (entry.name.startsWith('@')) walk(one)
      else if (existsSync(join(one, 'package.json'))) {
        add(JSON.parse(readFileSync(join(one, 'package.json'), 'utf8')), { directory: one })
        walk(join(one, 'node_modules'))
      }
    }
  }
  for (const archive of archives) {
    const { stdout } = spawnSync('tar', ['-xzOf', archive, 'package/package.json'], { encoding: 'utf8' })
    add(JSON.parse(stdout), { archive })
  }
  for (const directory of modules) walk(directory)
  return packages
}

/** The archive of an installed package, without what is installed in it. */
function archived({ archive, directory }) {
  if (archive !== undefined) return spawn('cat', [archive], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout
  const args = ['-czf', '-', '--exclude=./node_modules', '--transform=s,^\\.,package,', '-C', directory, '.']
  return spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout
}

/**
 * Starts a registry.
 *
 * @param {{ modules: string[], archives: string[] }} from
 * @returns {Promise<{ url: string, stop: () => void }>}
 */
export async function startRegistry({ modules, archives }) {
  const packages = collected(modules, archives)
  const server = createServer((request, response) => {
    const [, name, version] =
      /^\/((?:@[^/]+\/)?[^/]+)(?:\/-\/(.+)\.tgz)?$/.exec(decodeURIComponent(request.url)) ?? []
    const versions = packages.get(name)
    if (versions === undefined || (version !== undefined && !versions.has(version))) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}')
    } else if (version !== undefined) {
      archived(versions.get(version)).pipe(response)
    } else {
      const all = [...versions].map(([version, { manifest }]) => {
        const { devDependencies, scripts, ...others } = manifest
        return [version, { ...others, dist: { tarball: `${url}/${name}/-/${version}.tgz` } }]
      })
      const latest = all.at(-1)[0]
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(all) }))
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${server.address().port}`
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url, stop }
}
