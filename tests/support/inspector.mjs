// The inspector of this process, which answers within the call.

import { Session } from 'node:inspector'

export function openInspector() {
  const session = new Session()
  session.connect()
  return session
}

/** Calls a method. Returns its result. */
export function askInspector(session, method, parameters) {
  let answered
  session.post(method, parameters, (error, result) => {
    answered = { error, result }
  })
  if (answered === undefined)
    throw new Error(`${method}: this runtime's inspector does not answer within the call`)
  if (answered.error) throw new Error(`${method}: ${answered.error.message}`)
  return answered.result
}
