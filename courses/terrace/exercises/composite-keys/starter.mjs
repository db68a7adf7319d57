export function keyOf(place, number) {
  return `${place}${number}`
}

export function rangeOf(place) {
  return { gte: place, lt: `${place}~` }
}
