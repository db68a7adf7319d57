// A node hangs (SIGSTOP) under writers, and resumes later (SIGCONT).

import { readAudit } from '../audit.js'

/** The hanging node is not used by any writer. The group waits for it until it is evicted. */
export async function aFollowerHangs(scene, { writes, deadlineMs = 4000 }) {
  return scene.underLoad(async (load) => {
    await load.write([1, 2].map((writer) => ({ ...scene.at(0, { deadlineMs }), writer, depth: writer })))
    await load.advance(writes)
    const inUse = await scene.busiest()
    const follower = scene.cluster.nodes.find((node) => node !== inUse)
    follower.suspend()
    try {
      await load.advance(writes)
    } finally {
      follower.resume()
    }
    const startedAgain = await scene.cluster.healed()
    await load.advance(writes)
    return { startedAgain }
  })
}

/**
 * The hanging node is in use by the writers. They continue elsewhere, and end before it resumes: anything stored after that
 * comes from calls that failed long ago.
 */
export async function theNodeInUseHangs(scene, { writes }) {
  let hanging
  return scene.underLoad(
    async (load) => {
      await load.write([1, 2, 3, 4].map((writer) => ({ ...scene.at(0), writer, depth: writer > 2 ? 4 : 1 })))
      await load.read([scene.at(0)])
      await load.advance(writes)
      hanging = await scene.busiest()
      hanging.suspend()
      await load.advance(writes)
    },
    async () => {
      const other = scene.cluster.nodes.find((node) => node !== hanging)
      const before = await changesOf(other)
      hanging.resume()
      const startedAgain = await scene.cluster.healed()
      const after = await changesOf(other)
      return { appliedLate: [...after].filter((change) => !before.has(change)).length, startedAgain }
    }
  )
}

const changesOf = async (node) => new Set((await readAudit(node)).map((change) => JSON.stringify(change)))
