/**
 * The worker that opens the directory. The page sends `{ id, method, parameters }`; it gets `{ id, progress }` any number of times,
 * then `{ id, result }` or `{ id, error }`. `{ cancel: id }` ends a task soon: its result shows how far it got.
 */

import { Session } from './session.js'

const session = new Session()
const tasks = new Map()

self.onmessage = async ({ data }) => {
  if (data.cancel !== undefined) {
    const task = tasks.get(data.cancel)
    if (task !== undefined) task.isCancelled = true
    return
  }
  const { id, method, parameters } = data
  const task = {
    isCancelled: false,
    progress: (progress, transfer) => postMessage({ id, progress }, transfer ?? [])
  }
  tasks.set(id, task)
  try {
    const result = await session[method](parameters, task)
    postMessage({ id, result, wasCancelled: task.isCancelled })
  } catch (error) {
    postMessage({ id, error: described(error) })
  } finally {
    tasks.delete(id)
  }
}

/** An error in the form for the page. If the browser refused to read a file, `refusal` is the name of its error. */
function described(error) {
  const root = error.code === 'LEVEL_DATABASE_NOT_OPEN' && error.cause !== undefined ? error.cause : error
  return { code: root.code, message: root.message, refusal: session.takeFailure()?.name }
}
