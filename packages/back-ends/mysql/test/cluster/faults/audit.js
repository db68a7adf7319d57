// Triggers that note each change of a row beside it, in the same transaction. What is stored twice leaves two notes even if the
// entry is the same afterwards, and each note says what it replaced.

const AUDIT = 'terrace.audit'

/** Longer values are cut; their beginning says whose they are. */
const NOTED_BYTES = 40

/** Makes triggers on the table of a database, which must exist. */
export async function installAudit(node, table) {
  await node.query(
    `CREATE TABLE ${AUDIT} (
      id BIGINT AUTO_INCREMENT PRIMARY KEY, k VARBINARY(3068) NOT NULL,
      old VARBINARY(${NOTED_BYTES}), now VARBINARY(${NOTED_BYTES}))`
  )
  const cut = (value) => `SUBSTRING(${value}, 1, ${NOTED_BYTES})`
  const note = (key, old, now) => `INSERT INTO ${AUDIT} (k, old, now) VALUES (${key}, ${old}, ${now})`
  const trigger = (event, statement) =>
    node.query(`CREATE TRIGGER terrace.audit_${event} AFTER ${event} ON ${table} FOR EACH ROW ${statement}`)
  await trigger('INSERT', note('NEW.k', 'NULL', cut('NEW.v')))
  await trigger('UPDATE', note('NEW.k', cut('OLD.v'), cut('NEW.v')))
  await trigger('DELETE', note('OLD.k', cut('OLD.v'), 'NULL'))
}

/** The changes so far, in no order. */
export async function readAudit(node) {
  const rows = await node.query(`SELECT k, old, now FROM ${AUDIT}`)
  const text = (bytes) => (bytes === null ? null : bytes.toString())
  return rows.map(({ k, old, now }) => ({ key: text(k), old: text(old), now: text(now) }))
}

/** Forgets the changes so far. */
export const clearAudit = (node) => node.query(`TRUNCATE ${AUDIT}`)
