// The settings of servers for tests that are not about durability: no server loses power here.

/** Arguments of a server that does not wait for the disk. */
export const NOSYNC = ['--innodb-flush-method=nosync']

/** The same, and its commits are not even written at once. */
export const UNSYNCED = [...NOSYNC, '--innodb-flush-log-at-trx-commit=0']
