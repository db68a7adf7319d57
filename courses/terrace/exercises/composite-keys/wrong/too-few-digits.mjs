// Give all numbers the same width
export function keyOf(place, number) {
  return `${place}\x00${String(number).padStart(3, '0')}`
}

export function rangeOf(place) {
  return { gte: `${place}\x00`, lt: `${place}\x01` }
}
