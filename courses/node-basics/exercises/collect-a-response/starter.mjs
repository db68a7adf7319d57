const response = await fetch(process.argv[2])

console.log(response.headers.get('content-type'))
