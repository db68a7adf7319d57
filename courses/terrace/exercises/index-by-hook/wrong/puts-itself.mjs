// in a write of its own
export default function keepIndex(birds, byPlace) {
  const update = ({ type, key, value }) => {
    const old = birds.getSync(key)
    if (old !== undefined) byPlace.del(`${old.place}!${key}`)
    if (type === 'put') byPlace.put(`${value.place}!${key}`, '')
  }
  birds.hooks.prewrite.add(update, { everyWrite: true })
}
