// used differently
export async function record(store, words) {
  for (const word of words) await store.put(word)
}
