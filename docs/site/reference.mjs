// The API reference: pages of Markdown from the TypeScript sources and their comments.

import path from 'node:path'
import { Application } from 'typedoc'
import { ENTRY_POINTS } from './entry-points.mjs'
import { root } from './root.mjs'

/**
 * Writes the reference to a directory: a page for each entry point, and `index.md`, which leads to them.
 *
 * @throws {Error} if the sources have errors of types, or a comment links to what is not there.
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
    useHTMLAnchors: true,
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
  if (app.logger.hasWarnings()) throw new Error('a comment of the sources is wrong: see above')
}
