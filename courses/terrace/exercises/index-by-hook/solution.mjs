export default function keepIndex(birds, byPlace) {
  const update = ({ type, key, value }, batch) => {
    const old = birds.getSync(key)
    if (old !== undefined) batch.add({ type: 'del', key: `${old.place}!${key}`, sublevel: byPlace })
    if (type === 'put') batch.add({ type: 'put', key: `${value.place}!${key}`, value: '', sublevel: byPlace })
  }
  birds.hooks.prewrite.add(update, { everyWrite: true })
}
