const response = await fetch(process.argv[2])
const text = await response.text()

console.log(text.length)
console.log(text)
