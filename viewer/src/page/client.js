/** The page's access to the worker that opens a directory. */

/** What the worker could not do: `code` and `message` of the engine, `refusal` if the browser did not read a file. */
export class WorkerError extends Error {
  constructor({ code, message, refusal }) {
    super(message)
    this.code = code
    this.refusal = refusal
  }
}

/** One call. `done` resolves with the result. */
class Task {
  #cancel
  constructor(promise, cancel) {
    this.done = promise
    this.#cancel = cancel
  }

  /** Ends the task soon. Its result shows how far it got, and later progress is not reported. */
  cancel() {
    this.#cancel()
  }
}

export class Client {
  #worker
  #calls = new Map()
  #lastId = 0

  constructor(workerUrl) {
    this.#worker = new Worker(workerUrl)
    this.#worker.onmessage = ({ data }) => this.#answer(data)
    this.#worker.onerror = (event) => this.#fail(event.message)
  }

  /** Calls a method of the session. */
  call(method, parameters) {
    return this.start(method, parameters, () => {}).done
  }

  /** Calls a method that reports how far it got. */
  start(method, parameters, progress) {
    const id = ++this.#lastId
    const promise = new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject, progress }))
    this.#worker.postMessage({ id, method, parameters })
    return new Task(promise, () => this.#worker.postMessage({ cancel: id }))
  }

  close() {
    this.#worker.terminate()
    this.#calls.clear()
  }

  #answer({ id, progress, result, error }) {
    const call = this.#calls.get(id)
    if (call === undefined) return
    if (progress !== undefined) return call.progress(progress)
    this.#calls.delete(id)
    if (error === undefined) call.resolve(result)
    else call.reject(new WorkerError(error))
  }

  #fail(message) {
    for (const { reject } of this.#calls.values())
      reject(new WorkerError({ code: 'LEVEL_INTERNAL_ERROR', message }))
    this.#calls.clear()
  }
}
