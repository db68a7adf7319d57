// The node in use is killed repeatedly under four writers; it restarts and catches up while they continue.

import { pause } from '../../waiting.js'

/** @param size - `kills`, and how many `writes` each writer has acknowledged before and after each. */
export async function killsOfTheNodeInUse(scene, { kills, writes }) {
  return scene.underLoad(async (load) => {
    await load.write([1, 2, 3, 4].map((writer) => ({ ...scene.at(0), writer, depth: writer > 2 ? 4 : 1 })))
    await load.read([scene.at(2)])
    for (let kill = 0; kill < kills; kill++) {
      await load.advance(writes)
      await pause(Math.random() * 200)
      const victim = await scene.busiest()
      await victim.kill()
      await load.advance(writes)
      await scene.cluster.rejoin(victim)
    }
    return { kills }
  })
}
