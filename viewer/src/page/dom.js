/** Elements, made by code: no text of a database ever becomes markup. */

/** Makes an element with properties and children. Names of properties with a dash, and `role`, are attributes. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue
    if (name.includes('-') || name === 'role') element.setAttribute(name, value)
    else element[name] = value
  }
  element.append(...children.filter((child) => child !== undefined))
  return element
}

export const byId = (id) => document.getElementById(id)

const UNITS = ['B', 'KiB', 'MiB', 'GiB']

/** A number of bytes for people. */
export function sizeText(bytes) {
  let [value, unit] = [bytes, 0]
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024
  return unit === 0 ? `${bytes} B` : `${value.toFixed(1)} ${UNITS[unit]}`
}

/** A number for people. */
export const countText = (count) => count.toLocaleString('en-GB')

export const plural = (count, one, many = `${one}s`) => `${countText(count)} ${count === 1 ? one : many}`

/** Saves bytes as a file of the user's. */
export function save(blob, name) {
  const url = URL.createObjectURL(blob)
  make('a', { href: url, download: name }).click()
  // The browser has begun by then; it keeps the bytes for as long as it needs them.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
