// The bodies are printed in the order in which they came.
for (const url of process.argv.slice(2)) {
  fetch(url)
    .then((response) => response.text())
    .then((text) => console.log(text))
}
