const urls = process.argv.slice(2)

const response = await fetch(urls[0])
console.log(await response.text())
