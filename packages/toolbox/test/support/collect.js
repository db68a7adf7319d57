/** Everything that an async iterable yields. */
export async function all(iterable) {
  const found = []
  for await (const item of iterable) found.push(item)
  return found
}
