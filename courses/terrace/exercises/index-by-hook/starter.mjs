export default function keepIndex(birds, byPlace) {
  birds.hooks.prewrite.add(
    (operation, batch) => {
      const key = `${operation.value.place}!${operation.key}`
      batch.add({ type: 'put', key, value: '', sublevel: byPlace })
    },
    { everyWrite: true }
  )
}
