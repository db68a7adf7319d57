export async function record(store, words) {
  await store.put(words[0])
}
