export default async function note(db, bird) {
  return [[bird, 1]]
}
