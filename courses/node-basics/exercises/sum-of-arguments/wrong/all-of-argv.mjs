// The first two elements of process.argv are paths
console.log(process.argv.reduce((sum, argument) => sum + Number(argument), 0))
