// No name has a character below 32, so neither of these can be in one.
const SEPARATOR = '\x00'
const AFTER_SEPARATOR = '\x01'

export function keyOf(place, number) {
  return place + SEPARATOR + String(number).padStart(6, '0')
}

export function rangeOf(place) {
  return { gte: place + SEPARATOR, lt: place + AFTER_SEPARATOR }
}
