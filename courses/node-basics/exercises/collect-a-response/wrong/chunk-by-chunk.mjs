// A letter was cut in two
const response = await fetch(process.argv[2])
let text = ''
for await (const chunk of response.body) text += new TextDecoder().decode(chunk)
console.log(text.length)
console.log(text)
