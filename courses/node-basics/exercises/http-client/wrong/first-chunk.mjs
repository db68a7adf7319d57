// only the first chunk
const response = await fetch(process.argv[2])
const { value } = await response.body.getReader().read()
console.log(new TextDecoder().decode(value))
process.exit()
