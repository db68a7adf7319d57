export async function record(store, words) {
  for (const word of new Set(words)) await store.put(word)
}
