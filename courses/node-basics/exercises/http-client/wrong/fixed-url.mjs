// The URL is the first argument
const response = await fetch('http://127.0.0.1:3/birds')
for await (const chunk of response.body) console.log(new TextDecoder().decode(chunk))
