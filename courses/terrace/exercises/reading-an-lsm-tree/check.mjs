import { isDeepStrictEqual } from 'node:util'
import { allow, callBoth } from '../../support/judge.mjs'

const harness = new URL('harness.mjs', import.meta.url)

const STEPS = [
  { en: 'writing', de: 'dem Schreiben' },
  { en: 'the first compaction', de: 'der ersten Compaction' },
  { en: 'deleting', de: 'dem Löschen' },
  { en: 'the second compaction', de: 'der zweiten Compaction' }
]

export const example = {
  with: {
    entries: [
      ['gull', 'harbour'],
      ['kite', 'hill']
    ]
  },
  harness,
  allow
}

export default async function check(context) {
  const { random, refuse } = context
  const birds = new Set(Array.from({ length: random.integer(200, 400) }, () => random.word(6)))
  const entries = [...birds].map((bird) => [bird, random.word(20)])

  const { own, reference } = await callBoth(context, { entries }, { harness })
  const { returned, found, contents, prediction } = own
  if (found.length !== STEPS.length) refuse(compactTwice(found.length / 2))
  if (contents.length > 0) refuse(notDeleted)
  if (!Array.isArray(returned) || returned.length !== STEPS.length) refuse(fourLooks)
  const [before, after] = [found, reference.found].map(([{ tables, logBytes }]) => ({
    tables,
    isEmpty: logBytes === 0
  }))
  if (!isDeepStrictEqual(before, after)) refuse(notWritten)
  for (const [index, step] of STEPS.entries()) compareLook(step, returned[index], found[index], refuse)

  if (!Array.isArray(prediction) || prediction.length !== STEPS.length) refuse(noPrediction)
  const counts = found.map(({ tables }) => tables.reduce((sum, count) => sum + count, 0))
  const index = counts.findIndex((count, at) => count !== prediction[at])
  if (index !== -1) refuse(otherwise(STEPS[index], prediction[index], REASONS[index]))
}

function compareLook(step, look, { tables, logBytes, memtableBytes }, refuse) {
  if (!isDeepStrictEqual(look?.tables, tables))
    refuse(otherTables(step), { expected: tables, actual: look?.tables })
  if (look.logBytes === logBytes) return
  refuse(look.logBytes === memtableBytes ? memory : otherLog(step), {
    expected: logBytes,
    actual: look.logBytes
  })
}

const compactTwice = (count) => ({
  en: `Your function called compactRange ${count} times. It should do so twice: after writing, and after deleting.`,
  de: `Deine Funktion hat compactRange ${count}-mal aufgerufen. Sie sollte es zweimal tun: nach dem Schreiben und nach dem Löschen.`
})

const notDeleted = {
  en: 'After your function there are still entries. The third step deletes all of them.',
  de: 'Nach deiner Funktion sind noch Einträge da. Der dritte Schritt löscht sie alle.'
}

const notWritten = {
  en: 'Before the first compaction there is not what writing the entries leaves. Write all of them first, in one batch for example.',
  de: 'Vor der ersten Compaction ist nicht das da, was das Schreiben der Einträge hinterlässt. Schreib sie zuerst alle, zum Beispiel in einem Batch.'
}

const fourLooks = {
  en: 'Your function should return an array of four objects, one for each step: { tables, logBytes }.',
  de: 'Deine Funktion soll ein Array aus vier Objekten zurückgeben, eines für jeden Schritt: { tables, logBytes }.'
}

const otherTables = ({ en, de }) => ({
  en: `After ${en} your function does not report the tables that there are in the seven levels.`,
  de: `Nach ${de} meldet deine Funktion nicht die Tabellen, die es in den sieben Levels gibt.`
})

const otherLog = ({ en, de }) => ({
  en: `After ${en} the files *.log have another size than your function reports.`,
  de: `Nach ${de} haben die Dateien *.log eine andere Größe, als deine Funktion meldet.`
})

const memory = {
  en: 'memtableBytes is the memory for entries that are not in a table yet. The log is a file, and it has a size of its own.',
  de: 'memtableBytes ist der Speicher für Einträge, die noch in keiner Tabelle sind. Das Log ist eine Datei und hat eine eigene Größe.'
}

const noPrediction = {
  en: 'Export prediction, an array of four numbers: how many tables there are after each step.',
  de: 'Exportiere prediction, ein Array aus vier Zahlen: wie viele Tabellen es nach jedem Schritt gibt.'
}

const otherwise = (step, predicted, reason) => ({
  en: `Your function reports what there is, but your prediction is another: ${predicted} after ${step.en}. ${reason.en}`,
  de: `Deine Funktion meldet, was da ist, aber deine Vorhersage ist eine andere: ${predicted} nach ${step.de}. ${reason.de}`
})

const REASONS = [
  {
    en: 'What was written is in the log and in memory, until there is enough of it for a table.',
    de: 'Was geschrieben wurde, ist im Log und im Arbeitsspeicher, bis es für eine Tabelle reicht.'
  },
  {
    en: 'All these entries fit into one table.',
    de: 'Alle diese Einträge passen in eine Tabelle.'
  },
  {
    en: 'A deletion is one more entry in the log, a tombstone. It changes no table.',
    de: 'Eine Löschung ist ein weiterer Eintrag im Log, ein Tombstone. Sie ändert keine Tabelle.'
  },
  {
    en: 'A compaction drops an entry together with its tombstone. If nothing is left, there is no table.',
    de: 'Eine Compaction lässt einen Eintrag zusammen mit seinem Tombstone weg. Bleibt nichts übrig, gibt es keine Tabelle.'
  }
]
