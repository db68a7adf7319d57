export default async function listing(directory, extension) {
  return [`${directory}/*.${extension}`]
}
