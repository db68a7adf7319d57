// A worker that answers each call with its bytes, over a port and memory that it shares with the page: at once, later, or by a failure, as the call says.

import { parentPort, workerData } from 'node:worker_threads'
import { ChannelMemory } from '../../dist/browser/tabs/channel/shared-memory.js'
import { WorkerMemoryChannel } from '../../dist/browser/tabs/channel/worker-memory-channel.js'
import { PortChannel } from './port-channel.js'

const channel = new WorkerMemoryChannel(new PortChannel(parentPort), new ChannelMemory(workerData.shared))
let last = 0

const answerTo = (number, bytes, isRefused) =>
  isRefused
    ? { answers: [], bytes: new Uint8Array(0), failures: [[number, { message: 'refused' }]] }
    : { answers: [[number, bytes.length, bytes.length]], bytes, failures: [] }

channel.onMessage = ([[[kind, number]], bytes]) => {
  if (number !== ++last) throw new Error(`${number} came after ${last - 1}`)
  if (kind === 2) setImmediate(() => channel.send(answerTo(number, bytes, false)))
  else channel.send(answerTo(number, bytes, kind === 3))
}
