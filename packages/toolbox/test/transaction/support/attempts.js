// How many attempts a transaction makes if something happens meanwhile.

/** Runs a transaction. During its first attempt, after its reads, `meanwhile` happens. Returns the number of attempts. */
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
