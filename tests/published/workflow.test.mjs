// The workflows of hosted machines: that of the tests makes targets of the Makefile, and every part of the tests; that of releases
// publishes by the commands of scripts/publish.mjs alone.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { KINDS } from '../../scripts/publish.mjs'
import { files, root, text } from '../rules/tracked.mjs'

const WORKFLOWS = '.github/workflows/'
const workflow = text(`${WORKFLOWS}ci.yml`)
const release = text(`${WORKFLOWS}release.yml`)
const releasing = text('RELEASING.md')
const make = (...args) => spawnSync('make', ['--dry-run', ...args], { cwd: root, encoding: 'utf8' })
const parts = execFileSync('make', ['--silent', 'parts'], { cwd: root, encoding: 'utf8' }).trim().split('\n')

/** The jobs of a workflow, by their keys. */
function jobsOf(text) {
  const [, jobs] = text.split(/^jobs:\n/m)
  const [, ...keyed] = jobs.split(/^ {2}([a-z-]+):\n/m)
  return Object.fromEntries(keyed.filter((_, i) => i % 2 === 0).map((key, i) => [key, keyed[2 * i + 1]]))
}

/** The commands of a workflow or of a job. */
function commandsOf(text) {
  return [...text.matchAll(/^ {6,}(?:- )?run: (.*)$/gm)].map(([, command]) => command)
}

test('each target that the workflows make is one of the Makefile', () => {
  const portable = /^ {2}PORTABLE: (.*)$/m.exec(workflow)[1]
  const words = [...`${workflow}${release}`.matchAll(/- run: make (.*)$/gm)].flatMap(([, rest]) =>
    rest.split(' ')
  )
  const wanted = words.filter((word) => /^[a-z-]+$/.test(word))
  wanted.push(...portable.split(' '))
  assert.ok(wanted.includes('test') && wanted.includes('test-terrace') && wanted.includes('rehearse'))
  assert.deepEqual(
    wanted.filter((target) => make(target).status !== 0),
    []
  )
  assert.notEqual(make('no-such-target').status, 0)
})

test('each part of the tests is a target, and the workflow has a job for each', () => {
  assert.ok(parts.length > 30 && parts.includes('crates') && parts.includes('platforms'))
  assert.deepEqual(
    parts.filter((part) => make(`test-${part}`).status !== 0),
    []
  )
  assert.match(workflow, /make --silent parts \| grep -v '\^platforms\$'/)
  assert.match(workflow, /- run: make test-\$\{\{ matrix\.part \}\}/)
  assert.match(workflow, /- run: make test-platforms /)
})

test('a release is published by a job for each registry, after the rehearsal, with the command of scripts/publish.mjs', () => {
  const { pack, archives, ...publishing } = jobsOf(release)
  assert.deepEqual(commandsOf(pack), ['make build', 'scripts/release tagged'])
  assert.deepEqual(Object.keys(publishing), Object.keys(KINDS))
  for (const [kind, job] of Object.entries(publishing)) {
    assert.deepEqual(commandsOf(job), [`node scripts/publish.mjs ${kind}`])
    for (const line of ['needs: pack', 'environment: release', 'runs-on: ubuntu-24.04'])
      assert.ok(job.includes(`\n    ${line}\n`), `${kind}: ${line}`)
  }
  assert.match(archives, new RegExp(`needs: \\[${Object.keys(publishing).join(', ')}\\]`))
  assert.match(release, /^on:\n {2}push:\n {4}tags: \['v\*'\]\n\n/m)
})

test('a release is published without secrets: only jobs that publish get a token, of the registry or of GitHub', () => {
  assert.doesNotMatch(release, /\bsecrets\b/)
  assert.match(release, /^permissions:\n {2}contents: read\n\n/m)
  const permissions = Object.entries(jobsOf(release)).map(([key, job]) => [
    key,
    (/^ {4}permissions:\n((?: {6}.*\n)+)/m.exec(job)?.[1] ?? '').trim().split(/\n +/)
  ])
  const trusted = ['contents: read', 'id-token: write']
  assert.deepEqual(Object.fromEntries(permissions), {
    pack: [''],
    npm: trusted,
    cargo: trusted,
    gem: trusted,
    archives: ['contents: write']
  })
  assert.match(jobsOf(release).npm, /NPM_CONFIG_PROVENANCE: true/)
})

test('no other place publishes anything', () => {
  const places = files.filter((file) => file.startsWith(WORKFLOWS) || /^(Makefile|.*\.mk)$/.test(file))
  places.push(...files.filter((file) => /^scripts\//.test(file) && file !== 'scripts/publish.mjs'))
  assert.ok(places.includes('scripts/release') && places.length > 30)
  const upload =
    /\b(npm|pnpm|yarn|bun) publish\b|\bcargo publish\b(?! --dry-run)|\bgem push\b|\bgh release (create|upload)\b/
  const found = places.flatMap((file) =>
    text(file)
      .split('\n')
      .filter((line) => upload.test(line) && !/^\s*(#|\/\/|\*|\/\*)/.test(line))
      .map((line) => `${file}: ${line.trim()}`)
  )
  const [github] = commandsOf(jobsOf(release).archives)
  assert.deepEqual(found, [`${WORKFLOWS}release.yml: - run: ${github}`])
})

test('RELEASING.md has five commands, and names what the registries are to trust', () => {
  const [, block] = /```sh\n([^`]*)```/.exec(releasing)
  const version = '[0-9]+\\.[0-9]+\\.[0-9]+'
  const commands = [
    `node scripts/version\\.mjs ${version}`,
    `git commit --all --message "Version ${version}"`,
    'make release',
    `git tag --annotate v${version} --message v${version}`,
    `git push origin HEAD v${version}`
  ]
  const lines = block.trim().split('\n')
  assert.equal(lines.length, commands.length)
  for (const [i, command] of commands.entries()) assert.match(lines[i], new RegExp(`^${command}( +#.*)?$`))
  // What `make release` ends with is the rest of them.
  for (const command of lines.slice(3)) {
    const shape = command.replace(/ +#.*$/, '').replaceAll(new RegExp(version, 'g'), '$1')
    assert.ok(text('scripts/release').includes(shape), shape)
  }
  assert.match(releasing, /npm trust github .* --file=release\.yml --environment=release --allow-publish/)
})
