const urls = process.argv.slice(2)

async function textOf(url) {
  const response = await fetch(url)
  return response.text()
}

const texts = await Promise.all(urls.map(textOf))
for (const text of texts) console.log(text)
