// Print the number of its characters
const response = await fetch(process.argv[2])
console.log(await response.text())
