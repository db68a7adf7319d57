// some should be capital ones
console.log('hello, world!')
