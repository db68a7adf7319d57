// A registry of npm packages on loopback: verdaccio, with no other registry behind it. It has what it is given and what is published
// to it, and no more.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { runServer } from 'verdaccio'
import { PLATFORMS } from '../../packages/terrace/scripts/platforms.mjs'
import { NATIVE_PACKAGES, platformManifest } from '../../scripts/manifests.mjs'

/** npm wants some token before it sends a package. */
const TOKEN = 'loopback'

/**
 * @typedef {object} NpmRegistry
 * @property {string} url - Ends with a slash.
 * @property {Record<string, string>} environment - Gives npm this registry and no settings of the user.
 * @property {(archive: string) => Promise<string>} add - Puts a package in it as it was packed, whatever its manifest says of
 *   publishing. Returns its name.
 * @property {(manifest: Record<string, any>) => Promise<string>} addManifest - Puts one in it that has no archive.
 * @property {() => void} close - Ends it and removes what it has.
 */

/** @returns {Promise<NpmRegistry>} */
export async function startNpmRegistry() {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-npm-registry-'))
  const server = await runServer({
    configPath: join(directory, 'config.yaml'),
    storage: join(directory, 'storage'),
    uplinks: {},
    packages: { '**': { access: '$all', publish: '$all' } },
    web: { enable: false },
    log: { type: 'stdout', format: 'pretty', level: 'fatal' },
    max_body_size: '200mb'
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`
  const userConfig = join(directory, 'npmrc')
  writeFileSync(userConfig, `registry=${url}\n${url.slice('http:'.length)}:_authToken=${TOKEN}\n`)

  const add = async (manifest, file, bytes) => {
    const { name } = manifest
    const response = await fetch(`${url}${encodeURIComponent(name)}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(upload(manifest, file, bytes, url))
    })
    if (!response.ok) throw new Error(`The registry refuses ${name}: ${await response.text()}`)
    return name
  }
  return {
    url,
    environment: { npm_config_userconfig: userConfig, npm_config_cache: join(directory, 'cache') },
    add: (archive) => add(manifestIn(archive), basename(archive), readFileSync(archive)),
    addManifest: (manifest) => add(manifest, 'none.tgz', Buffer.from('nothing')),
    close: () => {
      server.closeAllConnections()
      server.close()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

/**
 * Puts manifests in a registry for the packages of platforms that are not among `names`, because they were not built: installers read
 * there which systems they are for, and leave them out.
 *
 * @param {NpmRegistry} registry
 * @param {string[]} names
 */
export async function addOtherPlatforms(registry, names) {
  for (const directory of NATIVE_PACKAGES) {
    const manifests = Object.keys(PLATFORMS).map((platform) => platformManifest(directory, platform))
    for (const manifest of manifests.filter(({ name }) => !names.includes(name)))
      await registry.addManifest(manifest)
  }
}

function manifestIn(archive) {
  return JSON.parse(execFileSync('tar', ['-xzOf', archive, 'package/package.json'], { encoding: 'utf8' }))
}

/** What `npm publish` sends. */
function upload(manifest, file, bytes, url) {
  const { name, version } = manifest
  const digest = (algorithm, encoding) => createHash(algorithm).update(bytes).digest(encoding)
  const dist = {
    tarball: `${url}${name}/-/${file}`,
    integrity: `sha512-${digest('sha512', 'base64')}`,
    shasum: digest('sha1', 'hex')
  }
  return {
    _id: name,
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
    _attachments: {
      [file]: {
        content_type: 'application/octet-stream',
        data: bytes.toString('base64'),
        length: bytes.length
      }
    }
  }
}
