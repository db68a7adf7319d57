// Your program counts bytes.
const response = await fetch(process.argv[2])
const bytes = Buffer.from(await response.arrayBuffer())
console.log(bytes.length)
console.log(bytes.toString())
