// Rewrites a document's links for the site. On GitHub they lead to files; here they lead to pages, to copies of files, or nowhere.

import path from 'node:path'

/** Files that the site serves beside its pages: pictures, examples, and programs for readers that are in `docs/` itself. */
const SERVED = /\.(svg|png)$|^(docs|examples)\/[\w-]+\.mjs$/
const CODE = /^(```|~~~)[\s\S]*?^\1|`[^`\n]*`/gm
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(<?([^)\s>]+)>?((?: "[^"]*")?)\)/g

/**
 * Rewrites the links of one document.
 *
 * - To a document that is a page: the address of the page, which keeps its anchor.
 * - To a picture or a program for readers: the address of its copy. The file is added to `served`.
 * - To another file of the repository: no link, but the same text with the file's path as its title.
 *
 * @param {string} text - The document.
 * @param {string} document - Its path in the repository.
 * @param {Map<string, string>} pages - From the paths of documents, and of directories with a README, to pages.
 * @param {Set<string>} served - Gets the paths of the files that the site must serve.
 */
export function rewriteLinks(text, document, pages, served) {
  const here = pages.get(document)
  return outsideCode(text, (prose) =>
    prose.replace(LINK, (whole, mark, label, target, title) => {
      if (/^[a-z]+:/i.test(target) || target.startsWith('#')) return whole
      const [name, anchor] = target.split('#')
      const file = path.posix.join(path.posix.dirname(document), name).replace(/\/$/, '')
      const page = pages.get(file)
      if (page !== undefined) {
        const to = path.posix.relative(path.posix.dirname(here), page)
        return `${mark}[${label}](./${to}${anchor === undefined ? '' : `#${anchor}`}${title})`
      }
      if (SERVED.test(file)) {
        served.add(file)
        const address = addressOf(file)
        if (mark === '!') return `![${label}](/${address}${title})`
        return `<a href="${path.posix.relative(path.posix.dirname(here), address)}" target="_blank">${label}</a>`
      }
      return `<span class="in-repository" title="${file} in the repository">${label}</span>`
    })
  )
}

/** Where the site has a file that it serves beside its pages. */
export const addressOf = (file) => file.replace(/^docs\//, '')

/** Replaces what is not code by what `change` makes of it. A link may contain code, but no block of it. */
function outsideCode(text, change) {
  const codes = []
  const prose = text.replace(CODE, (code) => `\uE000${codes.push(code) - 1}\uE000`)
  return change(prose).replaceAll(/\uE000(\d+)\uE000/g, (_, number) => codes[number])
}
