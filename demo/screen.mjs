// The output of the demo: headings, aligned rows and a progress bar. On a terminal it has colours and updates in place; in a
// file or a pipe it has plain lines.

const isTerminal = process.stdout.isTTY === true
const inColour = isTerminal && !process.env.NO_COLOR
const paint = (code) => (text) => (inColour ? `\x1b[${code}m${text}\x1b[0m` : `${text}`)

export const bold = paint('1')
export const dim = paint('2')
export const green = paint('32')
export const cyan = paint('36')

const LABEL_WIDTH = 26
const BAR_WIDTH = 40

const print = (line) => process.stdout.write(`${line}\n`)

/** Begins a part of the demo. */
export function heading(text) {
  print('')
  print(`${bold(cyan('▌'))} ${bold(text)}`)
}

/** A line with a label on its left. */
export const row = (label, text) => print(`  ${label.padEnd(LABEL_WIDTH)} ${text}`)

/** A line of explanation. */
export const note = (text) => print(`  ${dim(text)}`)

/** An empty line. */
export const gap = () => print('')

/** Prints a line about something found right; fails the demo unless `condition` holds. */
export function check(condition, text) {
  if (!condition) throw new Error(`not so: ${text}`)
  print(`  ${green('✓')} ${text}`)
}

/** Rows of cells, each column as wide as its widest cell, with numbers aligned to the right. */
export function table(head, rows) {
  const width = (text) => [...text].length
  const cells = rows.map((cells) => cells.map((cell) => (typeof cell === 'number' ? number(cell) : cell)))
  const widths = head.map((title, column) =>
    Math.max(width(title), ...cells.map((cells) => width(cells[column])))
  )
  const line = (cells, isNumber) =>
    cells
      .map((cell, column) => {
        const padding = ' '.repeat(widths[column] - width(cell))
        return isNumber(column) ? padding + cell : cell + padding
      })
      .join('  ')
      .trimEnd()
  const isNumber = (column) => rows.length > 0 && rows.every((cells) => typeof cells[column] === 'number')
  print(`  ${dim(line(head, isNumber))}`)
  for (const row of cells) print(`  ${line(row, isNumber)}`)
}

/** A progress bar, to be called with the amount done. Without a terminal, it prints a line for every quarter. */
export function progress(label, total) {
  const started = performance.now()
  let shown = -1
  return (done) => {
    const step = Math.floor((done / total) * (isTerminal ? 200 : 4))
    if (step === shown) return
    shown = step
    const share = done / total
    const rate = Math.round(done / ((performance.now() - started) / 1000))
    const told = `${String(Math.floor(share * 100)).padStart(3)} %  ${number(rate)}/s`
    if (isTerminal) {
      const filled = Math.round(share * BAR_WIDTH)
      const bar = green('█'.repeat(filled)) + dim('░'.repeat(BAR_WIDTH - filled))
      process.stdout.write(`\r\x1b[2K  ${label} ${bar} ${told}${done === total ? '\n' : ''}`)
    } else {
      print(`  ${label} ${told}`)
    }
  }
}

/** A number with separators. */
export const number = (value) => Math.round(value).toLocaleString('en-US')

/** A size in bytes, as text for people. */
export function size(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

/** Calls `work`, and returns its result and how many seconds it took. */
export async function timed(work) {
  const started = performance.now()
  const result = await work()
  return [result, (performance.now() - started) / 1000]
}
