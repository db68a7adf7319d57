// not the expected one
console.log(0)
