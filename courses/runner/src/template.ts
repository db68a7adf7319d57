/** The files of a workshop to begin with: an exercise for a module, and one for a program. */

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** By its path, the text of each file of a new workshop. */
export function templateFiles(name: string, version: string): Record<string, string> {
  return {
    'package.json': json({
      name,
      version: '0.1.0',
      type: 'module',
      bin: { [name]: 'main.mjs' },
      files: ['main.mjs', 'workshop.json', 'exercises'],
      scripts: { test: 'terrace-workshop-runner check-workshop .' },
      dependencies: { 'terrace-workshop-runner': `^${version}` }
    }),
    'workshop.json': json({
      name,
      title: name,
      version: '0.1.0',
      languages: ['en'],
      exercises: ['sum', 'lines']
    }),
    'main.mjs': main,
    'README.md': readme(name),
    ...inDirectory('exercises/sum', sum),
    ...inDirectory('exercises/lines', lines)
  }
}

function inDirectory(directory: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([file, text]) => [`${directory}/${file}`, text]))
}

const main = `#!/usr/bin/env node
import { runWorkshop } from 'terrace-workshop-runner'

await runWorkshop(new URL('./', import.meta.url))
`

const readme = (name: string): string => `# ${name}

\`\`\`sh
npm install
node main.mjs        # the workshop, as a learner sees it
npm test             # checks all exercises: solutions, starters, wrong solutions, languages
\`\`\`

An exercise is a directory below \`exercises\`, listed in \`workshop.json\`. The README of terrace-workshop-runner is the guide.
`

const sum = {
  'problem.en.md': `# A sum

Export a function as default that gets an array of numbers and returns their sum:

\`\`\`js
sum([1, 2, 3])   // 6
\`\`\`

The sum of no numbers is \`0\`.
`,
  'hint.en.md': `Begin with a variable that is \`0\`, and go through the array with \`for (const number of numbers)\`.
---
The method \`reduce\` of arrays does it in one line.
`,
  'starter.mjs': `export default function sum(numbers) {
  // Here is your turn.
}
`,
  'solution.mjs': `export default function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}
`,
  'wrong/no-numbers.mjs': `// The sum of no numbers is 0.
export default (numbers) => numbers.reduce((total, number) => total + number)
`,
  'wrong/without-the-last.mjs': `// is wrong
export default (numbers) => numbers.slice(0, -1).reduce((total, number) => total + number, 0)
`,
  'check.mjs': `export const example = { with: [1, 2, 3] }

export default async function check({ submission, solution, call, random, expectEqual }) {
  const numbers = Array.from({ length: random.integer(2, 9) }, () => random.integer(1, 99))
  const [actual, expected] = [await call(submission, { with: numbers }), await call(solution, { with: numbers })]
  expectEqual(actual, expected, \`The sum of \${numbers.join(', ')} is wrong.\`)
  const harness = new URL('harness.mjs', import.meta.url)
  expectEqual(await call(submission, { with: [], harness }), 0, 'The sum of no numbers is 0.')
}
`,
  'harness.mjs': `// Runs in the learner's process. What it returns is sent to the check.
export default async function harness(sum, numbers) {
  try {
    return await sum(numbers)
  } catch (error) {
    return error.message
  }
}
`
}

const lines = {
  'problem.en.md': `# Lines

Write a program that reads its standard input, and prints how many lines it has.
`,
  'hint.en.md': `\`readFileSync(0, 'utf8')\` of \`node:fs\` reads the whole standard input.
`,
  'starter.mjs': `// Here is your turn.
`,
  'solution.mjs': `import { readFileSync } from 'node:fs'

console.log(readFileSync(0, 'utf8').split('\\n').length - 1)
`,
  'wrong/one-too-many.mjs': `// /The input has \\d+ lines/
import { readFileSync } from 'node:fs'

console.log(readFileSync(0, 'utf8').split('\\n').length)
`,
  'check.mjs': `export const example = { input: 'one\\ntwo\\nthree\\n' }

export default async function check({ submission, run, random, refuse }) {
  const lines = Array.from({ length: random.integer(1, 20) }, () => random.word(5))
  const { stdout } = await run(submission, { input: \`\${lines.join('\\n')}\\n\` })
  if (stdout.trim() === String(lines.length)) return
  refuse(\`The input has \${lines.length} lines.\`, { expected: String(lines.length), actual: stdout.trim() })
}
`
}
