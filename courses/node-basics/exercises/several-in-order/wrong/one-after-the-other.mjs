// Ask for all three at once.
for (const url of process.argv.slice(2)) {
  const response = await fetch(url)
  console.log(await response.text())
}
