// in a write of its own
export default function keepIndex(birds, byPlace) {
  birds.on('write', (operations) => {
    for (const { type, key, value } of operations) {
      if (type === 'put') byPlace.put(`${value.place}!${key}`, '')
    }
  })
}
