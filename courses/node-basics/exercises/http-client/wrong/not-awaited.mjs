// fetch returns a promise.
const decoder = new TextDecoder()
for await (const chunk of fetch(process.argv[2]).body) console.log(decoder.decode(chunk))
