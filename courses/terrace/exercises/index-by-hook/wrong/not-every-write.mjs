// Your hook has not seen a batch on the database with the option sublevel
export default function keepIndex(birds, byPlace) {
  birds.hooks.prewrite.add(({ type, key, value }, batch) => {
    const old = birds.getSync(key)
    if (old !== undefined) batch.add({ type: 'del', key: `${old.place}!${key}`, sublevel: byPlace })
    if (type === 'put') batch.add({ type: 'put', key: `${value.place}!${key}`, value: '', sublevel: byPlace })
  })
}
