// How often a transaction is called when something happens meanwhile.

/** Runs a transaction; during its first attempt, after its reads, `meanwhile` happens. Returns how often it was called. */
export async function attempts(transaction, reads, meanwhile, options) {
  let calls = 0

  await transaction(async (tx) => {
    calls++
    await reads(tx)
    if (calls === 1) await meanwhile()
    tx.put('result', String(calls))
  }, options)
  return calls
}
