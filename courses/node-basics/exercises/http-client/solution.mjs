const decoder = new TextDecoder()
const response = await fetch(process.argv[2])

for await (const chunk of response.body) {
  console.log(decoder.decode(chunk))
}
