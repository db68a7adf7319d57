import { allow } from '../../support/judge.mjs'

const harness = new URL('harness.mjs', import.meta.url)

const MIN_BATCH = 100
const MAX_BATCH = 1000
const MAX_PERCENT = 65
const MAX_BYTES_OF_GET = 40_000

export const example = ({ random }) => ({ with: workloads(random), harness, allow })

export default async function check({ submission, random, call, refuse }) {
  const data = workloads(random)
  const own = await call(submission, { with: data, harness, allow })
  const { entriesOfWrites, isComplete, archive } = own

  if (!isComplete) refuse(incomplete)
  const largest = Math.max(...entriesOfWrites)
  if (largest > MAX_BATCH) refuse(tooLarge(largest))
  const most = data.readings.length / MIN_BATCH
  if (entriesOfWrites.length > most) refuse(tooMany(entriesOfWrites.length, most))

  if (archive.percent > MAX_PERCENT) refuse(largeFiles(archive.percent))
  if (archive.bytesOfGet > MAX_BYTES_OF_GET) refuse(largeBlocks(archive.bytesOfGet))
}

/** Readings, and notes in a language of few words. */
function workloads(random) {
  const readings = Array.from({ length: 5000 }, (_, index) => [
    `${String(index).padStart(5, '0')}`,
    `${random.integer(-200, 400) / 10} °C`
  ])
  const words = Array.from({ length: 300 }, () => random.word(random.integer(2, 9)))
  const text = (length) => Array.from({ length }, () => random.pick(words)).join(' ')
  const notes = Array.from({ length: 2000 }, (_, index) => [
    `day ${String(Math.floor(index / 9)).padStart(3, '0')}, ${random.word(8)}`,
    JSON.stringify({ bird: text(1), place: text(1), note: text(12) })
  ])
  return { readings, notes }
}

const incomplete = {
  en: 'After save() there are not as many entries in the database as there were readings.',
  de: 'Nach save() sind nicht so viele Einträge in der Datenbank, wie es Messwerte gab.'
}

const tooLarge = (size) => ({
  en: `Your function writes ${size} entries in one batch. A batch of that size blocks the event loop while its entries are copied: ${MAX_BATCH} are enough.`,
  de: `Deine Funktion schreibt ${size} Einträge in einem Batch. Während die Einträge eines so großen Batches kopiert werden, steht die Event-Loop still: ${MAX_BATCH} genügen.`
})

const tooMany = (writes, most) => ({
  en: `Your function makes ${writes} writes, and ${most} are enough. Put at least ${MIN_BATCH} entries into a batch.`,
  de: `Deine Funktion macht ${writes} Schreibvorgänge, und ${most} genügen. Nimm mindestens ${MIN_BATCH} Einträge in einen Batch.`
})

const largeFiles = (percent) => ({
  en: `The files of the archive have ${percent} % of their size with the defaults, and should have ${MAX_PERCENT} % at most. What do another compression and larger blocks do, and both together?`,
  de: `Die Dateien des Archivs haben ${percent} % der Größe, die sie mit den Voreinstellungen haben, und sollten höchstens ${MAX_PERCENT} % haben. Was bewirken eine andere Kompression und größere Blöcke, und was beide zusammen?`
})

const largeBlocks = (bytes) => ({
  en: `The files of the archive are small, but one get brings ${bytes} bytes into memory, since it decompresses a whole block. Take smaller blocks.`,
  de: `Die Dateien des Archivs sind klein, aber ein get holt ${bytes} Bytes in den Speicher, denn es dekomprimiert einen ganzen Block. Nimm kleinere Blöcke.`
})
