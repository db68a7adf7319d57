import { outputs } from '../../checks/output.mjs'

export const example = { args: ['3', '-1', '40'] }

const FAILURES = [
  [
    /Reduce of empty array/,
    {
      en: 'Without arguments the sum is 0. reduce needs a value to begin with: reduce(…, 0).',
      de: 'Ohne Argumente ist die Summe 0. reduce braucht einen Anfangswert: reduce(…, 0).'
    }
  ]
]

export default async function check(context) {
  const { random } = context
  const numbers = Array.from({ length: random.integer(3, 7) }, () => random.integer(2, 99))
  await checkSum(context, [...numbers, -random.integer(1, 9)])
  await checkSum(context, [])
}

async function checkSum(context, numbers) {
  const args = numbers.map(String)
  const { actual, expected } = await outputs(context, { args }, { failures: FAILURES })
  if (actual === expected) return
  context.refuse(messageOn(actual, args, Number(expected)), { expected, actual })
}

function messageOn(actual, args, sum) {
  if (actual === 'NaN' || actual.includes(process.execPath)) {
    return {
      en: 'The first two elements of process.argv are paths, not numbers. Leave them out.',
      de: 'Die ersten beiden Elemente von process.argv sind Pfade, keine Zahlen. Lass sie weg.'
    }
  }
  if (args.length === 0)
    return { en: 'Without arguments the sum is 0.', de: 'Ohne Argumente ist die Summe 0.' }
  if (actual.replace(/^0/, '') === args.join('')) {
    return {
      en: 'Your program joins texts instead of adding numbers. Number(text) makes a number.',
      de: 'Dein Programm hängt Texte aneinander, statt Zahlen zu addieren. Number(text) macht eine Zahl daraus.'
    }
  }
  if (Number(actual) === sum - Number(args[0])) {
    return {
      en: 'The first number is missing from the sum. It is process.argv[2].',
      de: 'In der Summe fehlt die erste Zahl. Sie ist process.argv[2].'
    }
  }
  return { en: `The sum of ${args.join(', ')} is wrong.`, de: `Die Summe von ${args.join(', ')} ist falsch.` }
}
