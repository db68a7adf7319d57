// its entry for the old place is still there
const places = new Map()

export default function keepIndex(birds, byPlace) {
  const update = ({ type, key, value }, batch) => {
    if (places.has(key)) batch.add({ type: 'del', key: `${places.get(key)}!${key}`, sublevel: byPlace })
    places.delete(key)
    if (type === 'del') return
    batch.add({ type: 'put', key: `${value.place}!${key}`, value: '', sublevel: byPlace })
    places.set(key, value.place)
  }
  birds.hooks.prewrite.add(update, { everyWrite: true })
}
