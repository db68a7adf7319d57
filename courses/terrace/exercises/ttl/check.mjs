import { allow, callBoth } from '../../support/judge.mjs'

const harness = new URL('harness.mjs', import.meta.url)

export const example = {
  with: {
    steps: [
      { call: 'start', args: ['token7', 'anna'] },
      { minutes: 20, call: 'user', args: ['token7'] },
      { minutes: 20, call: 'user', args: ['token7'] },
      { minutes: 31, call: 'user', args: ['token7'] },
      { call: 'cleanUp' }
    ]
  },
  harness,
  allow
}

export default async function check(context) {
  const { random, refuse } = context
  const [used, forgotten, never] = new Set(Array.from({ length: 20 }, () => random.word(6)))
  const users = [1, 2].map(() => `user-${random.word(12)}`)
  const early = random.integer(15, 29)
  const late = random.integer(31 - early, 29)
  const steps = [
    { call: 'start', args: [used, users[0]] },
    { call: 'start', args: [forgotten, users[1]] },
    { call: 'user', args: [never] },
    { minutes: early },
    { call: 'user', args: [used] },
    { minutes: late },
    { call: 'user', args: [used] },
    { call: 'user', args: [forgotten] },
    { call: 'cleanUp' },
    { call: 'start', args: [forgotten, users[0]] },
    { minutes: random.integer(1, 29) },
    { call: 'user', args: [forgotten] },
    { minutes: random.integer(31, 90) },
    { call: 'user', args: [used] },
    { call: 'user', args: [forgotten] },
    { call: 'cleanUp' }
  ]

  const { own, reference } = await callBoth(context, { steps }, { harness })
  const questions = steps.flatMap(({ call }, index) => (call === 'user' ? [index] : []))
  for (const index of questions) {
    const [actual, expected] = [own, reference].map(({ returned }) => returned[index])
    if (actual === expected) continue
    refuse(difference(actual, expected, index === questions.at(2)), { expected, actual })
  }
  if (textsWith(own.contents, users).length > 0) refuse(remains)
  if (valuesWritten(own, users) > valuesWritten(reference, users)) refuse(rewritten)
}

const textsWith = (entries, users) =>
  entries.filter((texts) => users.some((user) => texts.some((text) => text.includes(user))))

/** How often the user of a session was written. */
function valuesWritten({ writes }, users) {
  const values = writes.flatMap(({ operations }) => operations.map(({ value = '' }) => [value]))
  return textsWith(values, users).length
}

function difference(actual, expected, isAfterUse) {
  if (expected === undefined) return actual === undefined ? wrong : expired
  return actual === undefined && isAfterUse ? notTouched : wrong
}

const wrong = {
  en: 'user() returned something else than it should.',
  de: 'user() hat etwas anderes zurückgegeben, als es sollte.'
}

const expired = {
  en: 'user() returned the user of a session that had not been used for more than 30 minutes. Give the view a time to live in milliseconds, and the clock that you were given.',
  de: 'user() hat den Benutzer einer Sitzung zurückgegeben, die seit mehr als 30 Minuten unbenutzt war. Gib der Sicht eine Lebensdauer in Millisekunden und die Uhr, die du bekommen hast.'
}

const notTouched = {
  en: 'A session had ended although it had been used less than 30 minutes before. When user() finds a session, its time begins again: touch() does that.',
  de: 'Eine Sitzung war zu Ende, obwohl sie vor weniger als 30 Minuten benutzt wurde. Wenn user() eine Sitzung findet, beginnt ihre Zeit von vorn: Das tut touch().'
}

const remains = {
  en: 'After cleanUp() there are still sessions in the database that have expired. removeExpired() of the view removes them.',
  de: 'Nach cleanUp() sind noch abgelaufene Sitzungen in der Datenbank. removeExpired() der Sicht entfernt sie.'
}

const rewritten = {
  en: 'It works, but user() writes the value of the session again, each time it is used. touch() writes the time alone.',
  de: 'Es stimmt, aber user() schreibt bei jeder Benutzung den Wert der Sitzung noch einmal. touch() schreibt nur die Zeit.'
}
