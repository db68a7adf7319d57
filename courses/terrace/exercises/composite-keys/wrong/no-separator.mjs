// Put a separator between the parts
export function keyOf(place, number) {
  return place + number
}

export function rangeOf(place) {
  return { gte: `${place}0`, lt: `${place}:` }
}
