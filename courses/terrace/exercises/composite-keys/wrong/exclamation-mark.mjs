// a separator that cannot occur in a name
export function keyOf(place, number) {
  return `${place}!${String(number).padStart(6, '0')}`
}

export function rangeOf(place) {
  return { gte: `${place}!`, lt: `${place}"` }
}
