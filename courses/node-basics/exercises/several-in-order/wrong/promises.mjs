// Is an await missing?
const textOf = async (url) => (await fetch(url)).text()
for (const text of process.argv.slice(2).map(textOf)) console.log(text)
