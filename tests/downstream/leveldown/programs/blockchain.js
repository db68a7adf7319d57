// ethereumjs-blockchain 4 on level 4: blocks, forks, deletion, iteration.

const { call, print, run } = require('./support/print.js')

const Blockchain = require('ethereumjs-blockchain').default
const Block = require('ethereumjs-block')
const level = require('level-4')

const open = (db) => new Blockchain({ db, validate: false })

function child(parent, number, extra) {
  const block = new Block()
  block.header.number = number
  block.header.difficulty = '0xfffff'
  block.header.parentHash = parent.hash()
  block.header.extraData = Buffer.from(extra ?? '')
  return block
}

const hash = (block) => (block instanceof Error ? block : block.hash().toString('hex'))

async function main() {
  let db = level('chain')
  let chain = open(db)
  const genesis = new Block()
  genesis.setGenesisParams()
  print('genesis', hash(genesis), await call(chain, 'putGenesis', genesis))
  const blocks = [genesis]
  for (let i = 1; i <= 20; i++) {
    blocks.push(child(blocks[i - 1], i))
    await call(chain, 'putBlock', blocks[i])
  }
  print('latest', hash(await call(chain, 'getLatestBlock')), hash(await call(chain, 'getLatestHeader')))
  print(
    'by number and hash',
    hash(await call(chain, 'getBlock', 7)),
    hash(await call(chain, 'getBlock', blocks[9].hash()))
  )
  print(
    'several',
    (await call(chain, 'getBlocks', 3, 4, 1, false)).map(hash),
    (await call(chain, 'getBlocks', 9, 3, 0, true)).map(hash)
  )
  print('missing', (await call(chain, 'getBlock', 99)).notFound)
  print(
    'needed',
    (await call(chain, 'selectNeededHashes', [blocks[19].hash(), blocks[20].hash(), Buffer.alloc(32)])).map(
      (each) => each.toString('hex')
    )
  )

  let fork = blocks[17]
  for (let i = 18; i <= 22; i++) {
    fork = child(fork, i, 'fork')
    await call(chain, 'putBlock', fork)
  }
  print(
    'fork',
    hash(await call(chain, 'getLatestBlock')) === hash(fork),
    hash(await call(chain, 'getBlock', 18))
  )
  await call(chain, 'delBlock', fork.hash())
  print('deleted', hash(await call(chain, 'getLatestBlock')))
  await db.close()

  db = level('chain')
  chain = open(db)
  print('again', hash(await call(chain, 'getLatestBlock')))
  const seen = []
  const each = (block, _, callback) => {
    seen.push(hash(block).slice(0, 8))
    callback()
  }
  await call(chain, 'iterator', 'vm', each)
  print('iterated', seen, Object.keys(chain.meta.heads))
  await db.close()
}

run(main)
