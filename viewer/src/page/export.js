/** An export to a file: lines of JSON, as `terrace export` writes and `terrace import` reads them. */

import { byId, countText } from './dom.js'

/** Collects the lines. Returns undefined if the user stops it. */
byId('stop-export').addEventListener('click', () => byId('exporting').close('stopped'))

export async function exportEntries(client, parameters) {
  const dialog = byId('exporting')
  const text = byId('exported')
  text.textContent = 'Exporting …'
  const pieces = []
  const task = client.start('export', parameters, ({ bytes, count }) => {
    // A browser may keep the bytes of a blob on the disk.
    pieces.push(new Blob([bytes]))
    text.textContent = `${countText(count)} entries exported …`
  })
  let isStopped = false
  dialog.onclose = () => {
    isStopped = dialog.returnValue !== 'done'
    if (isStopped) task.cancel()
  }
  dialog.returnValue = ''
  dialog.showModal()
  try {
    await task.done
  } finally {
    if (dialog.open) dialog.close('done')
  }
  return isStopped ? undefined : new Blob(pieces, { type: 'application/jsonl' })
}
