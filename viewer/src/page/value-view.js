/** The entry that is selected: its key, and its value in every form that makes sense. */

import { hex } from '../bytes.js'
import { escaped } from '../escape.js'
import { likelyBytewiseText } from '../values/bytewise.js'
import { viewsOf } from '../values/views.js'
import { make, plural, save } from './dom.js'

/** JSON that is longer is shown without colours. */
const MOST_COLOURED = 200_000

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g

export class ValueView {
  #element
  #wanted

  constructor(element) {
    this.#element = element
    this.clear()
  }

  clear() {
    this.#element.replaceChildren(
      make('p', { className: 'hint', textContent: 'Select an entry to see its value.' })
    )
  }

  /** Shows an entry whose whole value is known. */
  show(layout, key, value) {
    const views = viewsOf(layout, key, value)
    const shown = views.find(({ id }) => id === this.#wanted) ?? views[0]
    const panel = make('div', {
      className: 'panel',
      role: 'tabpanel',
      id: 'view',
      tabIndex: 0,
      'aria-labelledby': `view-${shown.id}`
    })
    const tabs = make('div', { className: 'tabs', role: 'tablist', 'aria-label': 'Form of the value' })
    for (const view of views) tabs.append(this.#tab(view, view === shown, tabs, panel))
    tabs.addEventListener('keydown', (event) => moveAmongTabs(event, tabs))
    fill(panel, shown)
    this.#element.replaceChildren(keyFacts(layout, key, value), tabs, panel)
  }

  #tab(view, isShown, tabs, panel) {
    const tab = make('button', {
      type: 'button',
      role: 'tab',
      id: `view-${view.id}`,
      textContent: view.title
    })
    tab.setAttribute('aria-controls', 'view')
    tab.setAttribute('aria-selected', isShown)
    tab.tabIndex = isShown ? 0 : -1
    tab.addEventListener('click', () => {
      this.#wanted = view.id
      for (const other of tabs.children) {
        other.setAttribute('aria-selected', other === tab)
        other.tabIndex = other === tab ? 0 : -1
      }
      panel.setAttribute('aria-labelledby', tab.id)
      fill(panel, view)
    })
    return tab
  }
}

function moveAmongTabs(event, tabs) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (step === undefined) return
  const all = [...tabs.children]
  const to = all[(all.indexOf(document.activeElement) + step + all.length) % all.length]
  to.focus()
  to.click()
}

/** The key in its forms, and what can be done with the entry. */
function keyFacts(layout, key, value) {
  const facts = [
    ['Is', layout.describe(key)],
    ['Key', key.length === 0 ? '(empty)' : escaped(key)],
    ['bytewise', likelyBytewiseText(key)],
    ['Key, hex', hex(key, ' ')],
    ['Size', `${plural(key.length, 'byte')} of key, ${plural(value.length, 'byte')} of value`]
  ]
  const list = make('dl', { className: 'facts' })
  for (const [title, text] of facts) {
    if (text === undefined) continue
    list.append(make('dt', { textContent: title }), make('dd', { textContent: text }))
  }
  const saveButton = make('button', { type: 'button', className: 'quiet', textContent: 'Save value' })
  saveButton.addEventListener('click', () => save(new Blob([value]), 'value.bin'))
  return make('div', { className: 'entry' }, list, saveButton)
}

function fill(panel, view) {
  panel.scrollTop = 0
  panel.className = `panel ${view.kind}`
  const note = make('p', {
    className: 'hint',
    textContent: 'Only the first part is shown. Save the value to see all of it.'
  })
  if (view.kind === 'rows') panel.replaceChildren(table(view.rows))
  else panel.replaceChildren(...(view.isCut ? [note] : []), make('pre', {}, ...contents(view)))
}

function table(rows) {
  const body = make('tbody')
  for (const [title, text] of rows) {
    body.append(
      make('tr', {}, make('th', { scope: 'row', textContent: title }), make('td', { textContent: text }))
    )
  }
  return make('table', {}, body)
}

function contents({ kind, text }) {
  if (text === '') return [make('span', { className: 'hint', textContent: '(empty)' })]
  return kind === 'json' && text.length <= MOST_COLOURED ? coloured(text) : [text]
}

/** JSON in pieces, with the class of each. */
function coloured(text) {
  const pieces = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    const [, string, colon, word, number] = match
    const token = string ?? word ?? number
    const kind =
      string === undefined
        ? word === undefined
          ? 'number'
          : 'word'
        : colon === undefined
          ? 'string'
          : 'name'
    pieces.push(text.slice(end, match.index), make('span', { className: kind, textContent: token }))
    end = match.index + token.length
  }
  return [...pieces, text.slice(end)]
}
