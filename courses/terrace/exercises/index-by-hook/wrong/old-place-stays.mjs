// its entry for the old place is still there
export default function keepIndex(birds, byPlace) {
  const update = ({ type, key, value }, batch) => {
    if (type === 'put') batch.add({ type: 'put', key: `${value.place}!${key}`, value: '', sublevel: byPlace })
    else batch.add({ type: 'del', key: `${birds.getSync(key).place}!${key}`, sublevel: byPlace })
  }
  birds.hooks.prewrite.add(update, { everyWrite: true })
}
