// Takes items from iterators of subscriptions.

/** The next `count` items. */
export async function take(iterator, count) {
  const items = []
  while (items.length < count) {
    const { done, value } = await iterator.next()
    if (done) throw new Error(`Only ${items.length} items came`)
    items.push(value)
  }
  return items
}

/** Short texts for the operations of an item: `+key=value`, `-key`, or `clear`. */
export function texts(item) {
  return item.map(({ type, key, value }) =>
    type === 'put' ? `+${key}=${value}` : type === 'del' ? `-${key}` : 'clear'
  )
}

/** Takes items until an operation on the key `end` comes. Returns the texts of all operations before it. */
export async function textsUntilEnd(iterator) {
  const all = []
  for (;;) {
    const [item] = await take(iterator, 1)
    for (const text of texts(item)) {
      if (text.startsWith('+end=')) return all
      all.push(text)
    }
  }
}
