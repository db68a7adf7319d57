export default async function check({ submission, start, freePort, random, refuse, expectEqual }) {
  const port = await freePort()
  const server = start(submission, { args: [String(port)] })
  if (!(await server.until(/ready/))) refuse('It ended without printing ready.')
  const word = random.word(6)
  const response = await fetch(`http://127.0.0.1:${port}/${word}`)
  expectEqual(await response.text(), word)
  await server.stop()
}
