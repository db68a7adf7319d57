// Your program prints an array.
const textOf = async (url) => (await fetch(url)).text()
console.log(await Promise.all(process.argv.slice(2).map(textOf)))
