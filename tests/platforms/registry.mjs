// A registry of npm packages on this machine alone, which has our packages as they would be published, and those that they need.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename } from 'node:path'
import { PLATFORMS } from '../../packages/terrace/scripts/platforms.mjs'
import { platformManifest } from '../../scripts/manifests.mjs'
import { builtPlatforms, pack } from '../../scripts/pack.mjs'
import { Projects } from '../support/projects.mjs'

/** @typedef {{ url: string, refused: string[], close: () => void }} Registry - `refused` are the paths that it did not have. */

/**
 * Starts a registry with `terrace`, for all platforms that were built, and what it depends on. Other platforms have a manifest and no
 * archive, so that an installer can leave them out.
 *
 * @returns {Promise<Registry>}
 */
export async function startRegistry() {
  const projects = new Projects()
  const archives = [
    ...pack('packages/terrace', projects.directory, builtPlatforms),
    ...projects.externalOf('packages/terrace')
  ]
  const packages = new Map(archives.map(published).map((each) => [each.manifest.name, each]))
  for (const name of Object.keys(PLATFORMS)) {
    const manifest = platformManifest('terrace', name)
    if (!packages.has(manifest.name)) packages.set(manifest.name, { manifest, file: 'not-built.tgz' })
  }

  const refused = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://registry').pathname.slice(1))
    const archive = [...packages.values()].find(({ file }) => path === `-/${file}`)
    const found =
      archive?.bytes ?? (packages.has(path) && document(packages.get(path), `http://${request.headers.host}`))
    if (!found) refused.push(path)
    response.writeHead(found ? 200 : 404).end(found || '{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    refused,
    close: () => {
      server.closeAllConnections()
      server.close()
      projects.remove()
    }
  }
}

function manifestIn(archive) {
  return JSON.parse(execFileSync('tar', ['-xzOf', archive, 'package/package.json'], { encoding: 'utf8' }))
}

function published(archive) {
  const bytes = readFileSync(archive)
  return { manifest: manifestIn(archive), file: basename(archive), bytes }
}

/** What a registry says of a package that has one version. */
function document({ manifest, file, bytes = Buffer.alloc(0) }, url) {
  const { name, version } = manifest
  const digest = (algorithm, encoding) => createHash(algorithm).update(bytes).digest(encoding)
  const dist = {
    tarball: `${url}/-/${file}`,
    integrity: `sha512-${digest('sha512', 'base64')}`,
    shasum: digest('sha1', 'hex')
  }
  return JSON.stringify({
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { ...manifest, dist } }
  })
}
