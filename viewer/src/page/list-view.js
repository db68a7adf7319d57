/** A list of entries of which only the rows in view are elements. */

import { make, sizeText } from './dom.js'

const ROW_PX = 30
const SPARE_ROWS = 8

export class ListView {
  #element
  #space
  #rows = new Map()
  #model
  #shown
  #chosen
  #selected = -1
  #isQueued = false

  /**
   * @param element - Where the list is.
   * @param shown - Makes the texts of an entry: `key`, `value`.
   * @param chosen - Gets the entry that the user selects.
   */
  constructor(element, shown, chosen) {
    this.#element = element
    this.#shown = shown
    this.#chosen = chosen
    this.#space = make('div', { className: 'space', role: 'presentation' })
    element.append(this.#space)
    element.addEventListener('scroll', () => this.update())
    element.addEventListener('keydown', (event) => this.#key(event))
    new ResizeObserver(() => this.update()).observe(element)
  }

  /** Shows other entries. */
  show(model) {
    this.#model?.close()
    this.#model = model
    this.#selected = -1
    this.#element.scrollTop = 0
    this.#element.removeAttribute('aria-activedescendant')
    this.redraw()
  }

  /** Makes all rows again. */
  redraw() {
    for (const row of this.#rows.values()) row.remove()
    this.#rows.clear()
    this.update()
  }

  /** Brings the rows up to date, once for all calls before the next frame. */
  update() {
    if (this.#isQueued) return
    this.#isQueued = true
    requestAnimationFrame(() => {
      this.#isQueued = false
      this.#draw()
    })
  }

  #draw() {
    const count = this.#model?.rows ?? 0
    const { scrollTop, clientHeight } = this.#element
    this.#space.style.height = `${count * ROW_PX}px`
    const first = Math.max(0, Math.floor(scrollTop / ROW_PX) - SPARE_ROWS)
    const end = Math.min(count, Math.ceil((scrollTop + clientHeight) / ROW_PX) + SPARE_ROWS)
    for (const [index, row] of this.#rows) {
      if (index >= first && index < end) continue
      row.remove()
      this.#rows.delete(index)
    }
    for (let index = first; index < end; index++) this.#drawRow(index, count)
  }

  #drawRow(index, count) {
    let row = this.#rows.get(index)
    const entry = this.#model.entryAt(index)
    if (row === undefined) {
      row = make('div', {
        className: 'row',
        role: 'option',
        id: `entry-${index}`,
        'aria-posinset': index + 1
      })
      row.style.top = `${index * ROW_PX}px`
      row.addEventListener('click', () => this.select(index))
      this.#rows.set(index, row)
      this.#space.append(row)
    }
    row.setAttribute('aria-setsize', count)
    row.setAttribute('aria-selected', index === this.#selected)
    if (entry === undefined || row.entry === entry) return
    row.entry = entry
    const { key, value } = this.#shown(entry)
    row.replaceChildren(
      make('span', { className: 'key', textContent: key, title: key }),
      make('span', { className: 'head', textContent: value }),
      make('span', { className: 'size', textContent: sizeText(entry.valueBytes) })
    )
  }

  /** Selects a row, and hands its entry over. */
  select(index) {
    const entry = this.#model?.entryAt(index)
    if (entry === undefined) return
    this.#move(index)
    this.#chosen(entry)
  }

  #move(index) {
    this.#selected = index
    this.#element.setAttribute('aria-activedescendant', `entry-${index}`)
    const top = index * ROW_PX
    const { scrollTop, clientHeight } = this.#element
    if (top < scrollTop) this.#element.scrollTop = top
    else if (top + ROW_PX > scrollTop + clientHeight) this.#element.scrollTop = top + ROW_PX - clientHeight
    this.update()
  }

  #key(event) {
    const last = (this.#model?.rows ?? 0) - 1
    const page = Math.max(1, Math.floor(this.#element.clientHeight / ROW_PX) - 1)
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -last - 1, End: last + 1 }
    const step = steps[event.key]
    if (last < 0 || (step === undefined && event.key !== 'Enter')) return
    event.preventDefault()
    const target = Math.min(last, Math.max(0, this.#selected + (step ?? 0)))
    if (this.#model.entryAt(target) === undefined) this.#move(target)
    else this.select(target)
  }
}
