// The inspector of this process, which answers within the call.

import { Session } from 'node:inspector'

export function openInspector() {
  const session = new Session()
  session.connect()
  return session
}

/** Calls a method. Returns its result. */
export function askInspector(session, method, parameters) {
  let answer
  session.post(method, parameters, (error, result) => {
    if (error) throw new Error(`${method}: ${error.message}`)
    answer = result
  })
  return answer
}
