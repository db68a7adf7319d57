/** The menu of exercises in a terminal. */

import { emitKeypressEvents, type Key } from 'node:readline'
import { listLines, selectExercise } from './commands.js'
import type { Session } from './session.js'
import { type Exercise, inLanguage } from './workshop.js'

/** Lets the learner choose an exercise, and selects it. */
export async function menu(session: Session): Promise<void> {
  const exercise = await chosen(session)
  if (exercise !== undefined) selectExercise(session, exercise)
}

/** Shows the menu until an exercise is chosen, or none. */
function chosen(session: Session): Promise<Exercise | undefined> {
  const { exercises, title } = session.workshop
  const { stdin, stdout } = process
  let at = Math.max(
    0,
    exercises.findIndex((each) => each === (session.selected ?? session.next))
  )
  let digits = ''

  stdout.write(`${session.paint('bold', inLanguage(title, session.language))}\n${session.say('menu-keys')}\n`)
  const lines = listLines(session)
  const draw = (isAgain: boolean): void => {
    const text = lines.map((line, index) =>
      index === at ? session.paint('inverse', `> ${line}`) : `  ${line}`
    )
    stdout.write(`${isAgain ? `\x1b[${lines.length}A\x1b[J` : ''}${text.join('\n')}\n`)
  }

  return new Promise((resolve) => {
    const end = (exercise?: Exercise): void => {
      stdin.off('keypress', onKey)
      stdin.setRawMode(false)
      stdin.pause()
      stdout.write('\n')
      resolve(exercise)
    }
    const onKey = (text: string | undefined, key: Key): void => {
      if (key.name === 'q' || key.name === 'escape' || (key.ctrl && 'cd'.includes(key.name ?? '?'))) {
        end()
        return
      }
      if (key.name === 'return' || key.name === 'enter') {
        end(exercises[at])
        return
      }

      digits = /^\d$/.test(text ?? '') ? digits + text : ''
      if (digits !== '') at = numbered(digits, exercises.length) ?? at
      else if (key.name === 'up' || key.name === 'k') at = (at + exercises.length - 1) % exercises.length
      else if (key.name === 'down' || key.name === 'j') at = (at + 1) % exercises.length
      draw(true)
    }
    emitKeypressEvents(stdin)
    stdin.setRawMode(true)
    stdin.on('keypress', onKey)
    stdin.resume()
    draw(false)
  })
}

/** The index of the exercise that typed digits name: all of them, otherwise the last one alone. */
function numbered(digits: string, count: number): number | undefined {
  const fits = (text: string): boolean => Number(text) >= 1 && Number(text) <= count
  const found = [digits, digits.slice(-1)].find(fits)
  return found === undefined ? undefined : Number(found) - 1
}
