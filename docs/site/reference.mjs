// The API reference: pages of Markdown from the TypeScript sources and their comments.

import path from 'node:path'
import { Application } from 'typedoc'
import { root } from './root.mjs'

/** What a program can import, and the file that it gets. */
export const ENTRY_POINTS = {
  terrace: 'packages/terrace/src/index.ts',
  'terrace-core': 'packages/core/src/index.ts',
  'terrace-bytewise': 'packages/bytewise/src/index.ts',
  ...Object.fromEntries(
    ['copy', 'feed', 'index', 'lock', 'streams', 'transaction', 'ttl'].map((part) => [
      `terrace-toolbox/${part}`,
      `packages/toolbox/src/${part}/index.ts`
    ])
  ),
  'terrace-net': 'packages/net/src/client/index.ts',
  'terrace-net/server': 'packages/net/src/server/index.ts',
  'terrace-net/shared': 'packages/net/src/shared/index.ts',
  'terrace-lmdb': 'packages/back-ends/lmdb/src/index.ts',
  'terrace-mysql': 'packages/back-ends/mysql/src/index.ts',
  'terrace-slatedb': 'packages/back-ends/slatedb/src/index.ts',
  'terrace-workshop-runner': 'packages/workshop-runner/src/index.ts'
}

/**
 * Writes the reference to a directory: a page for each entry point, and `index.md`, which leads to them.
 *
 * @throws {Error} if the sources have errors of types.
 */
export async function writeReference(directory) {
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: Object.values(ENTRY_POINTS).map((file) => path.join(root, file)),
    tsconfig: path.join(root, 'docs/site/tsconfig.json'),
    basePath: root,
    out: directory,
    name: 'API reference',
    readme: 'none',
    router: 'module',
    entryFileName: 'index',
    sort: ['alphabetical'],
    disableGit: true,
    disableSources: true,
    excludePrivate: true,
    excludeProtected: true,
    excludeInternal: true,
    excludeExternals: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    enumMembersFormat: 'table',
    tableColumnSettings: { hideSources: true },
    logLevel: 'Warn'
  })
  const project = await app.convert()
  if (project === undefined || app.logger.hasErrors())
    throw new Error('the reference cannot be made: see above')
  const named = new Map(Object.entries(ENTRY_POINTS).map(([name, file]) => [path.dirname(file), name]))
  for (const module of project.children) module.name = named.get(module.name)
  await app.generateOutputs(project)
}
