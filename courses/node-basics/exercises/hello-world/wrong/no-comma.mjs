// Look at the comma
console.log('Hello World!')
