import { allow, callBoth } from '../../support/judge.mjs'

const harness = new URL('./harness.mjs', import.meta.url)

export const example = { with: { bird: 'kingfisher', failure: 'No bird today.' }, harness, allow }

export default async function check(context) {
  const { random, refuse, expectEqual } = context
  const data = { bird: random.word(8), failure: `No ${random.word(8)} today.` }
  const { own, reference } = await callBoth(context, data, { harness })

  const { succeeding, failing } = own
  if (succeeding.statusAtWork === undefined) refuse(notCalled, compared(succeeding, reference.succeeding))
  if (succeeding.statusAtWork !== 'open') refuse(notOpen)
  if (succeeding.statusWithinWork !== 'open') refuse(tooEarly)
  if (succeeding.returned !== data.bird) refuse(notReturned, compared(succeeding, reference.succeeding))
  if (succeeding.statusAfterwards === 'closing') refuse(notAwaited)
  if (succeeding.isLocked) refuse(locked)
  if (failing.isLocked) refuse(lockedAfterFailure)
  if (failing.error !== data.failure) refuse(errorLost, compared(failing, reference.failing))
  expectEqual(own, reference)
}

/** What the caller of the function gets. */
function compared(own, reference) {
  const outcome = ({ returned, error }) => (error === undefined ? returned : new Error(error).toString())
  return { expected: outcome(reference), actual: outcome(own) }
}

const notCalled = {
  en: 'Your function does not call work with a database in the directory that it was given.',
  de: 'Deine Funktion ruft work nicht mit einer Datenbank in dem Verzeichnis auf, das sie bekam.'
}

const notOpen = {
  en: 'The database is not open yet when your function calls work. Wait for it before: await db.open().',
  de: 'Die Datenbank ist noch nicht offen, wenn deine Funktion work aufruft. Warte vorher darauf: await db.open().'
}

const tooEarly = {
  en: 'Your function closes the database before work is done. work returns a promise: wait for it with await, then close.',
  de: 'Deine Funktion schließt die Datenbank, bevor work fertig ist. work gibt ein Promise zurück: Warte mit await darauf und schließe dann.'
}

const notReturned = {
  en: 'Your function does not return what work returned.',
  de: 'Deine Funktion gibt nicht zurück, was work zurückgab.'
}

const notAwaited = {
  en: 'Your function does not wait until the database is closed, so it may still be locked for a moment: await db.close().',
  de: 'Deine Funktion wartet nicht, bis die Datenbank geschlossen ist; noch einen Moment kann sie gesperrt sein: await db.close().'
}

const locked = {
  en: 'The database is still locked after your function has returned. Close it with await db.close().',
  de: 'Die Datenbank ist noch gesperrt, nachdem deine Funktion fertig ist. Schließe sie mit await db.close().'
}

const lockedAfterFailure = {
  en: 'The database is still locked after work has thrown an error. Close it in a finally block, which runs in any case.',
  de: 'Die Datenbank ist noch gesperrt, nachdem work einen Fehler geworfen hat. Schließe sie in einem finally-Block, der auf jeden Fall läuft.'
}

const errorLost = {
  en: 'When work throws, your function keeps the error to itself. The caller must get it.',
  de: 'Wenn work einen Fehler wirft, behält deine Funktion ihn für sich. Der Aufrufer muss ihn bekommen.'
}
