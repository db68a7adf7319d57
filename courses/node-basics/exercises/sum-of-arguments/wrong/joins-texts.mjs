// joins texts instead of adding numbers
let sum = 0
for (const argument of process.argv.slice(2)) sum += argument
console.log(sum)
