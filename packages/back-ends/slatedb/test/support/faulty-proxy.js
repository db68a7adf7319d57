// A proxy before an S3 server. It counts requests by purpose, and injects faults.

import { Agent, createServer, request } from 'node:http'

/** The purpose of a request, by its path and query. */
function areaOf(url) {
  const [path, query = ''] = url.split('?')
  const prefix = /prefix=([^&]*)/.exec(query)
  const of = prefix ? decodeURIComponent(prefix[1]) : path
  return /\/(manifest|wal|compacted|compactions)(\/|$)/.exec(of)?.[1] ?? 'other'
}

function operationOf(method, url) {
  if (method === 'GET' && /[?&]list-type=/.test(url)) return 'LIST'
  return method
}

/**
 * Faults for requests. Each gets the request, the response, and a function that forwards the request and resolves to the answer.
 */
export const faults = {
  /** There is no answer, and nothing reaches the store. */
  hang: () => undefined,
  /** The store is busy. */
  throttle: (_request, response) => {
    response.writeHead(503, { 'content-type': 'application/xml' })
    response.end('<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>')
  },
  /** The connection is cut before the store gets the request. */
  cutBefore: (request) => request.socket.destroy(),
  /** The store executes the request, but its answer is lost. */
  cutAfter: async (request, _response, forward) => {
    await forward()
    request.socket.destroy()
  },
  /** Half of the answer's body arrives. */
  cutInside: async (request, response, forward) => {
    const { status, headers, body } = await forward()
    response.writeHead(status, headers)
    response.write(body.subarray(0, body.length >> 1), () => request.socket.destroy())
  },
  /** The store executes the request, but never answers. */
  hangAfter: async (_request, _response, forward) => {
    await forward()
  }
}

export class FaultyProxy {
  #server
  #target
  #agent = new Agent({ keepAlive: true })
  #counts = new Map()
  /** Selects the fault for a request: a function of its operation and area that returns one of {@link faults}, or undefined. */
  fault = () => undefined
  /** How many requests have met a fault, and how many of these the store has finished executing. */
  faulty = 0
  done = 0

  static async start(target) {
    const proxy = new FaultyProxy()
    proxy.#target = target
    proxy.#server = createServer((request, response) => proxy.#serve(request, response))
    await new Promise((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port() {
    return this.#server.address().port
  }

  /** The requests since the last call, as counts by `operation area`. */
  take() {
    const counts = Object.fromEntries([...this.#counts].sort())
    this.#counts.clear()
    return counts
  }

  /** Ends the faults, and cuts all connections, since requests that met a fault may wait forever. */
  heal() {
    this.fault = () => undefined
    this.#server.closeAllConnections()
  }

  async #serve(request, response) {
    const chunks = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return
    }
    const operation = operationOf(request.method, request.url)
    const area = areaOf(request.url)
    const name = `${operation} ${area}`
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)

    const forward = () => this.#forward(request, Buffer.concat(chunks))
    const fault = this.fault(operation, area)
    try {
      if (fault !== undefined) {
        this.faulty++
        await fault(request, response, forward)
        this.done++
        return
      }
      const { status, headers, body } = await forward()
      response.writeHead(status, headers)
      response.end(body)
    } catch {
      request.socket.destroy()
    }
  }

  #forward({ method, url, headers }, body) {
    return new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: this.#target,
        method,
        path: url,
        headers,
        agent: this.#agent
      }
      const forwarded = request(options, (answer) => {
        const chunks = []
        answer.on('data', (chunk) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) })
        })
      })
      forwarded.on('error', reject)
      forwarded.end(body)
    })
  }

  stop() {
    this.#server.closeAllConnections()
    this.#server.close()
    this.#agent.destroy()
  }
}
