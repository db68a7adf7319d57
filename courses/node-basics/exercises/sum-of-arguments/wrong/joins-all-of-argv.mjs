// The first two elements of process.argv are paths
let sum = 0
for (const argument of process.argv) sum += argument
console.log(sum)
