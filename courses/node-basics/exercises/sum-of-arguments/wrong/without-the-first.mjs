// The first number is missing
console.log(process.argv.slice(3).reduce((sum, argument) => sum + Number(argument), 0))
