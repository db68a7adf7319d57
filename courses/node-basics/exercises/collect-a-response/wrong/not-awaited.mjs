// Is an await missing?
const response = await fetch(process.argv[2])
const text = response.text()
console.log(text.length)
console.log(text)
