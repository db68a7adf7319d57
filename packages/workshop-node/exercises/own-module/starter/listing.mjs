export default async function listing(directory, extension) {
  return [`a file of ${directory} with the extension ${extension}`]
}
