// House rule: the targets of links in the documents exist.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { slugOf } from '../../docs/site/slug.mjs'
import { root, text, withExtension } from './tracked.mjs'

const documents = withExtension('.md')

/** The text of a document without its code, in which brackets are not links. */
const prose = (file) =>
  text(file)
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
    .replace(/`[^`\n]*`/g, '')

/** The anchors of a document's headings, as GitHub makes them. */
function anchors(file) {
  const headings =
    text(file)
      .replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
      .match(/^#+ .*$/gm) ?? []
  const seen = new Map()
  return headings.map((heading) => {
    const plain = heading.replace(/^#+ /, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const slug = slugOf(plain)
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
}

function broken(file) {
  const targets = [...prose(file).matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)].map((match) => match[1])
  return targets
    .filter((target) => !/^[a-z]+:/i.test(target))
    .filter((target) => {
      const [name, anchor] = decodeURIComponent(target).split('#')
      const to = name === '' ? file : path.join(path.dirname(file), name)
      if (!existsSync(path.join(root, to))) return true
      return anchor !== undefined && to.endsWith('.md') && !anchors(to).includes(anchor)
    })
    .map((target) => `${file}: ${target}`)
}

test('every link between documents leads somewhere', () => {
  assert.deepEqual(documents.flatMap(broken), [])
})

test('every limit that a document names is a constant of that name', () => {
  const named = /\bMAX_[A-Z0-9_]+\b/g
  const constants = new Set(
    withExtension('.rs', '.ts').flatMap((file) =>
      [...text(file).matchAll(/\bconst (MAX_[A-Z0-9_]+)/g)].map((match) => match[1])
    )
  )
  const unknown = documents.flatMap((file) =>
    [...text(file).matchAll(named)]
      .map((match) => match[0])
      .filter((name) => !constants.has(name))
      .map((name) => `${file}: ${name}`)
  )
  assert.deepEqual(unknown, [])
})
