// more than one line
console.log('My first program:')
console.log('Hello, World!')
