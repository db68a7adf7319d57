/** Is loaded before a learner's program: what it prints leaves it at once, so a program without end cannot pile it up in memory. */

for (const stream of [process.stdout, process.stderr]) {
  const { _handle: handle } = stream as unknown as {
    _handle?: { setBlocking?: (isBlocking: boolean) => void }
  }
  handle?.setBlocking?.(true)
}
