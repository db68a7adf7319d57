const sum = 0

// Add the arguments here. They are in process.argv.

console.log(sum)
