/** The groups of keys as a tree, whose branches are read when they are opened. */

import { countText, make } from './dom.js'

/** Entries of a group that are counted; more are shown as “10,000+”. */
const MOST_COUNTED = 10_000

export class TreeView {
  #element
  #client
  #chosen
  #failed
  /** Counts run one after another. */
  #counting = Promise.resolve()

  /**
   * @param chosen - Gets the node that the user selects.
   * @param failed - Gets errors.
   */
  constructor(element, chosen, failed) {
    this.#element = element
    this.#chosen = chosen
    this.#failed = failed
    element.addEventListener('keydown', (event) => this.#key(event))
  }

  /** Shows the groups of another database. */
  async show(client) {
    this.#client = client
    const root = this.#item({ label: 'All entries', hasMore: true }, 1)
    root.querySelector('.node').tabIndex = 0
    this.#element.replaceChildren(root)
    await this.#open(root)
    this.#select(root)
  }

  #item(node, level) {
    const name =
      node.name === undefined ? undefined : make('span', { className: 'name', textContent: node.name })
    const label = make('span', { className: 'label', textContent: labelOf(node) })
    const count = make('span', { className: 'count' })
    const arrow = make('span', { className: 'arrow', 'aria-hidden': 'true' })
    const row = make('div', { className: 'node', tabIndex: -1 }, arrow, name, label, count)
    const item = make(
      'div',
      {
        role: 'treeitem',
        'aria-level': level,
        'aria-selected': 'false',
        className: node.kind ?? (node.prefix === undefined ? '' : 'raw')
      },
      row
    )
    item.node = node
    row.title = [node.name, node.label].filter(Boolean).join(' · ')
    if (node.hasMore && !node.isLast) item.setAttribute('aria-expanded', 'false')
    arrow.addEventListener('click', (event) => {
      event.stopPropagation()
      this.#toggle(item)
    })
    row.addEventListener('click', () => this.#select(item))
    row.addEventListener('dblclick', () => this.#toggle(item))
    return item
  }

  #select(item) {
    for (const other of this.#element.querySelectorAll('[aria-selected=true]'))
      other.setAttribute('aria-selected', 'false')
    for (const other of this.#element.querySelectorAll('.node[tabindex="0"]')) other.tabIndex = -1
    item.setAttribute('aria-selected', 'true')
    item.querySelector('.node').tabIndex = 0
    this.#chosen({ ...item.node, path: pathOf(item) })
  }

  async #toggle(item) {
    const state = item.getAttribute('aria-expanded')
    if (state === 'true') item.setAttribute('aria-expanded', 'false')
    else if (state === 'false') await this.#open(item)
  }

  async #open(item) {
    item.setAttribute('aria-expanded', 'true')
    if (item.querySelector('[role=group]') !== null) return
    const list = make('div', { role: 'group' })
    item.append(list)
    await this.#addGroups(item, list)
    if (list.childElementCount === 0) {
      list.remove()
      item.removeAttribute('aria-expanded')
    }
  }

  async #addGroups(item, list, from) {
    const client = this.#client
    const { groups, from: next } = await client
      .call('groups', { node: plainNode(item.node), from })
      .catch((error) => {
        this.#failed(error)
        return { groups: [] }
      })
    if (client !== this.#client) return
    const level = Number(item.getAttribute('aria-level')) + 1
    for (const group of groups) {
      const child = this.#item(group, level)
      list.append(child)
      this.#count(client, child)
    }
    if (next === undefined) return
    const more = make('button', { className: 'more', type: 'button', textContent: 'More groups' })
    const place = make('div', { role: 'none' }, more)
    more.addEventListener('click', async () => {
      place.remove()
      await this.#addGroups(item, list, next)
    })
    list.append(place)
  }

  #count(client, item) {
    this.#counting = this.#counting.then(async () => {
      if (client !== this.#client) return
      const { lower, upper } = item.node
      const counted = await client
        .call('count', { range: { lower, upper }, most: MOST_COUNTED })
        .catch(() => undefined)
      if (counted === undefined) return
      item.querySelector('.count').textContent = countText(counted.count) + (counted.isAll ? '' : '+')
    })
  }

  #key(event) {
    const nodes = [...this.#element.querySelectorAll('.node')].filter((node) => node.offsetParent !== null)
    const at = nodes.indexOf(document.activeElement)
    const item = nodes[at]?.parentElement
    if (item === undefined) return
    const state = item.getAttribute('aria-expanded')
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: nodes.length - 1 }
    let to = nodes[moves[event.key]]
    if (event.key === 'ArrowRight') {
      if (state === 'false') this.#open(item)
      else if (state === 'true') to = nodes[at + 1]
    } else if (event.key === 'ArrowLeft') {
      if (state === 'true') item.setAttribute('aria-expanded', 'false')
      else to = item.parentElement.closest('[role=treeitem]')?.querySelector('.node')
    } else if (!(event.key in moves) && event.key !== 'Enter' && event.key !== ' ') return
    event.preventDefault()
    if (event.key === 'Enter' || event.key === ' ') this.#select(item)
    if (to === undefined || to === null) return
    for (const node of nodes) node.tabIndex = -1
    to.tabIndex = 0
    to.focus()
  }
}

/** The names of an item and of those that it is in, but for the root. */
function pathOf(item) {
  const own = item.node.name ?? labelOf(item.node)
  const above = item.parentElement.closest('[role=treeitem]')
  const isUnderRoot = above === null || above.parentElement.closest('[role=treeitem]') === null
  return isUnderRoot ? own : `${pathOf(above)} › ${own}`
}

const labelOf = ({ label, isBucket }) => (isBucket ? `${label}…` : label)

/** A node without what only the page needs. */
const plainNode = ({ lower, upper, prefix, ids, isLast }) => ({ lower, upper, prefix, ids, isLast })
