// Adds exercises to a file of progress: node writer.js HOME NAME COUNT

import { ProgressFile } from '../../dist/progress-file.js'

const [home, name, count] = process.argv.slice(2)
const file = new ProgressFile(home, 'some', {}, ({ reason }) => {
  throw new Error(`set aside: ${reason}`)
})
for (let number = 0; number < Number(count); number++) {
  file.update((progress) => {
    progress.solved[`${name}-${number}`] = new Date().toISOString()
  })
}
