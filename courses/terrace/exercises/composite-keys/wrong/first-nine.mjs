// not all of their keys are in your range
export function keyOf(place, number) {
  return `${place}\x00${String(number).padStart(6, '0')}`
}

export function rangeOf(place) {
  return { gte: keyOf(place, 1), lt: keyOf(place, 10) }
}
