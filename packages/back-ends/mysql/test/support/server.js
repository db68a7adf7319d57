// The settings of servers for tests that are not about durability.

/** Arguments of a server whose commits do not wait for the disk. */
export const UNSYNCED = ['--innodb-flush-log-at-trx-commit=0', '--innodb-flush-method=nosync']
