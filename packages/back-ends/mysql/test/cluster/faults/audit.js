// Triggers that record each change of a row, in the same transaction. A write that is applied twice leaves two records even if
// the entry is the same afterwards, and each record includes the replaced value.

const AUDIT = 'terrace.audit'

/** Longer values are cut; their beginning identifies the write. */
const NOTED_BYTES = 40

/** Makes triggers on an existing table of a database. */
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

/** The changes so far, in no particular order. */
export async function readAudit(node) {
  const rows = await node.query(`SELECT k, old, now FROM ${AUDIT}`)
  const text = (bytes) => (bytes === null ? null : bytes.toString())
  return rows.map(({ k, old, now }) => ({ key: text(k), old: text(old), now: text(now) }))
}

/** Deletes the changes so far. */
export const clearAudit = (node) => node.query(`TRUNCATE ${AUDIT}`)
