// A worker that answers each call with its bytes, over a port and memory that it shares with the page: at once, later, or by a failure, as the call says.

import { parentPort, workerData } from 'node:worker_threads'
import { LaneMemory } from '../../dist/browser/tabs/channel/shared-memory.js'
import { WorkerLane } from '../../dist/browser/tabs/channel/worker-memory-channel.js'
import { PortChannel } from './port-channel.js'

const lane = new WorkerLane(new PortChannel(parentPort), new LaneMemory(workerData.shared))
let last = 0

const answerTo = (number, bytes, isRefused) =>
  isRefused
    ? { answers: [], bytes: new Uint8Array(0), failures: [[number, { message: 'refused' }]] }
    : { answers: [[number, bytes.length, bytes.length]], bytes, failures: [] }

lane.onMessage = ([[[kind, number]], bytes]) => {
  if (number !== ++last) throw new Error(`${number} came after ${last - 1}`)
  if (kind === 2) setImmediate(() => lane.send(answerTo(number, bytes, false)))
  else lane.send(answerTo(number, bytes, kind === 3))
}
