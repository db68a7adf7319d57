const numbers = process.argv.slice(2).map(Number)

console.log(numbers.reduce((sum, number) => sum + number, 0))
