// A chunk is an array of bytes.
const response = await fetch(process.argv[2])
for await (const chunk of response.body) console.log(chunk)
