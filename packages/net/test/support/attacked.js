// A server under attack: hostile clients, and an honest one that must be able to work at the end.

import assert from 'node:assert/strict'
import { greetedClient } from './raw-client.js'
import { serve } from './served.js'

/** The attackers of each test. */
const attackers = new WeakMap()

/** Serves until the test ends. An honest client must be able to work then. */
export async function served(t, options = {}) {
  const warnings = []
  attackers.set(t, [])
  const host = await serve({ onWarning: (warning) => warnings.push(warning), ...options })
  const honest = host.connect()
  await honest.open()
  t.after(async () => {
    try {
      await honest.put('honest', 'works')
      assert.equal(await honest.get('honest'), 'works')
    } finally {
      // Otherwise the server would wait for them.
      await Promise.all(attackers.get(t).map((client) => client.close()))
      await host.stop()
    }
  })
  return { ...host, honest, warnings }
}

/** A greeted client that is closed at the end of the test. */
export async function attacker(t, address, options) {
  const client = await greetedClient(address, options)
  if (attackers.has(t)) attackers.get(t).push(client)
  else t.after(() => client.close())
  return client
}
