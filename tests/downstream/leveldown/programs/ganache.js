// ganache 7: a chain on disk, with a contract, snapshots and a restart, then one in a database that the program makes.

const { print, run } = require('./support/print.js')

const ganache = require('ganache')
const leveldown = require('leveldown')

/** A contract that returns what it has in its slot 0. Sent data, it stores that and emits a log. */
const CODE =
  // Skip the constructor, then copy the rest.
  '0x6021600c60003960216000f3' +
  // If there is no data, jump to the return of storage[0].
  '3615' +
  '601557' +
  // Else: storage[0] = data[0..32], a log of it, and the end.
  '600035806000556000526020' +
  '6000a000' +
  '5b60005460005260206000f3'

async function main() {
  await onDisk()
  await inOwnDatabase()
}

const optionsOf = (database) => ({
  database,
  logging: { quiet: true },
  wallet: { deterministic: true, totalAccounts: 3 },
  chain: { chainId: 1337, networkId: 1337, time: new Date('2020-01-01T00:00:00Z') },
  miner: { timestampIncrement: 1 }
})

/** A provider, with a function that asks it: it resolves with the result, or with the error. */
function start(database) {
  const provider = ganache.provider(optionsOf(database))
  const ask = async (method, ...params) => {
    // ganache announces blocks in the next turn of the event loop. Requests over a connection have turns between them.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    return provider.request({ method, params }).catch((error) => error)
  }
  return { provider, ask }
}

async function onDisk() {
  const first = start({ dbPath: 'chain' })
  const { ask } = first
  const [one, other] = await ask('eth_accounts')
  print('accounts', one, other)
  for (let i = 1; i <= 20; i++) {
    const transfer = {
      from: one,
      to: other,
      value: `0x${i.toString(16)}`,
      gas: '0x5208',
      gasPrice: '0x77359400'
    }
    print('transfer', await ask('eth_sendTransaction', transfer))
  }
  const contract = await deploy(ask, one)
  const word = `0x${'2a'.padStart(64, '0')}`
  const stored = await ask('eth_sendTransaction', { from: one, to: contract, data: word, gas: '0x30d40' })
  print('receipt', await ask('eth_getTransactionReceipt', stored))
  print('value', await ask('eth_call', { to: contract }, 'latest'))

  const snapshot = await ask('evm_snapshot')
  await ask('eth_sendTransaction', {
    from: one,
    to: contract,
    data: `0x${'7'.padStart(64, '0')}`,
    gas: '0x30d40'
  })
  await ask('evm_mine', { blocks: 5 })
  print('mined', await ask('eth_blockNumber'), await ask('eth_call', { to: contract }, 'latest'))
  print('reverted', await ask('evm_revert', snapshot), await ask('eth_blockNumber'))
  print('refused', await ask('eth_sendTransaction', { from: other, to: one, value: `0x${'f'.repeat(30)}` }))
  await first.provider.disconnect()

  const second = start({ dbPath: 'chain' })
  await answers(second.ask, [one, other, contract])
  await second.provider.disconnect()
}

/** A database that the program hands to ganache. */
async function inOwnDatabase() {
  const { provider, ask } = start({ db: leveldown('own') })
  const [one, other] = await ask('eth_accounts')
  await ask('eth_sendTransaction', {
    from: one,
    to: other,
    value: '0x1',
    gas: '0x5208',
    gasPrice: '0x77359400'
  })
  await answers(ask, [one, other, await deploy(ask, one)])
  await provider.disconnect()
}

async function deploy(ask, from) {
  const sent = await ask('eth_sendTransaction', { from, data: CODE, gas: '0x7a120', gasPrice: '0x77359400' })
  const { contractAddress, status } = await ask('eth_getTransactionReceipt', sent)
  print('contract', contractAddress, status, await ask('eth_getCode', contractAddress, 'latest'))
  return contractAddress
}

/** Everything that a chain answers about itself. */
async function answers(ask, [one, other, contract]) {
  const last = await ask('eth_blockNumber')
  for (let number = 0; number <= Number(last); number++) {
    print('block', await ask('eth_getBlockByNumber', `0x${number.toString(16)}`, true))
  }
  for (const account of [one, other, contract]) {
    print(
      'account',
      await ask('eth_getBalance', account, 'latest'),
      await ask('eth_getTransactionCount', account, 'latest'),
      await ask('eth_getStorageAt', account, '0x0', 'latest')
    )
  }
  print('logs', await ask('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }))
  print('last', last, await ask('eth_getBlockByNumber', '0xffff', false))
}

run(main)
