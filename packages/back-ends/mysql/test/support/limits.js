// A server that takes no large transactions.

import { theServer } from './databases.js'
import { UNSYNCED } from './server.js'

export const BINLOG_CACHE_BYTES = 1 << 20

/** With a binary log, the server takes no transaction that is larger than a cache of this size. */
export const loggingServer = () =>
  theServer({
    args: [...UNSYNCED, '--log-bin', '--binlog-format=ROW', `--max-binlog-cache-size=${BINLOG_CACHE_BYTES}`]
  })
