/** The page: a directory is dropped or chosen, then its groups of keys, entries and values are shown side by side. */

import { hex } from '../bytes.js'
import { escaped } from '../escape.js'
import { layoutById } from '../layouts/index.js'
import { matcher } from '../matches.js'
import { bytewiseText } from '../values/bytewise.js'
import { Client } from './client.js'
import { databasesIn, filesOfDrop, filesOfInput } from './directory.js'
import { byId, countText, make, plural, save, sizeText } from './dom.js'
import { exportEntries } from './export.js'
import { ListView } from './list-view.js'
import { FoundModel, RangeModel } from './models.js'
import { compiledEngine, workerUrl } from './parts.js'
import { notADatabase, problemOf } from './problems.js'
import { TreeView } from './tree-view.js'
import { ValueView } from './value-view.js'

/** The directory that is open. */
const open = { client: undefined, database: undefined, layout: undefined, order: '' }

/** What the list shows: a node of the tree, and a search in it. */
const shown = { node: { path: '' }, query: undefined, model: undefined }

const list = new ListView(
  byId('entries'),
  (entry) => textsOf(entry),
  (entry) => void showValue(entry)
)
const tree = new TreeView(byId('tree'), showNode, (error) => showProblem(error))
const value = new ValueView(byId('value'))

// A directory.

for (const input of [byId('directory'), byId('other-directory')]) {
  input.addEventListener('change', () => {
    take(filesOfInput(input))
    input.value = ''
  })
}
document.addEventListener('dragover', (event) => {
  event.preventDefault()
  document.body.classList.add('is-over')
})
document.addEventListener('dragleave', (event) => {
  if (event.relatedTarget === null) document.body.classList.remove('is-over')
})
document.addEventListener('drop', async (event) => {
  event.preventDefault()
  document.body.classList.remove('is-over')
  try {
    take(await filesOfDrop(event.dataTransfer))
  } catch (error) {
    showNotice({
      title: 'The browser does not hand over the dropped directory',
      text: `${error.message}. Choose it by the button instead.`
    })
  }
})

/** Shows the database among files, or lets the user choose one of several. */
function take(files) {
  closeDirectory()
  const databases = databasesIn(files)
  if (databases.length === 0) showNotice(notADatabase(files))
  else if (databases.length === 1) void openDirectory(databases[0])
  else showChoice(databases)
}

function showChoice(databases) {
  const items = databases.map((database) => {
    const button = make(
      'button',
      { type: 'button' },
      make('span', { className: 'label', textContent: database.path }),
      make('span', { className: 'count', textContent: sizeText(database.sizeBytes) })
    )
    button.addEventListener('click', () => void openDirectory(database))
    return make('li', {}, button)
  })
  showNotice({
    title: `${plural(databases.length, 'database')} in this directory`,
    list: make('ul', { className: 'choice' }, ...items)
  })
}

async function openDirectory(database, repairs = false) {
  closeDirectory()
  hideNotice()
  document.body.dataset.state = 'opening'
  const client = new Client(workerUrl)
  open.client = client
  open.database = database
  try {
    const order = /\.indexeddb\.leveldb$/.test(database.name) ? 'idb_cmp1' : 'leveldb.BytewiseComparator'
    const { name, files } = database
    const facts = await client.call('open', { module: await compiledEngine(), name, files, order, repairs })
    if (client !== open.client) return
    open.layout = layoutById(facts.layout)
    open.order = facts.order
    document.body.dataset.state = 'open'
    document.title = `${name} – Terrace viewer`
    byId('name').textContent = database.path || name
    byId('facts').textContent = [
      open.layout.title,
      facts.order,
      `${sizeText(database.sizeBytes)} in ${plural(database.files.length, 'file')}`
    ].join(' · ')
    if (repairs)
      showNotice({
        title: 'This is what can be salvaged',
        text: 'Your files are as they were.',
        report: facts.report
      })
    await tree.show(client)
  } catch (error) {
    if (client === open.client) showProblem(error)
  }
}

function closeDirectory() {
  open.client?.close()
  open.client = undefined
  list.show(undefined)
  value.clear()
  document.body.dataset.state = 'empty'
  document.body.dataset.pane = 'tree'
}

// Entries.

function showNode(node) {
  shown.node = node
  shown.query = undefined
  byId('query').value = ''
  showEntries()
  if (node.lower !== undefined) document.body.dataset.pane = 'entries'
}

function showEntries() {
  const { client } = open
  const range = { lower: shown.node.lower, upper: shown.node.upper }
  const changed = () => {
    list.update()
    showStatus()
  }
  shown.model =
    shown.query === undefined
      ? new RangeModel(client, range, changed, showProblem)
      : new FoundModel(client, range, shown.query, changed, showProblem)
  byId('where').textContent = shown.node.path
  list.show(shown.model)
  value.clear()
  showStatus()
}

function showStatus() {
  const { model, query } = shown
  byId('stop').hidden = query === undefined || model.isDone
  document.body.classList.toggle('is-busy', !model.isDone)
  const end = model.hasFailed ? '; the rest cannot be read' : model.isDone ? '' : ' …'
  const cut = model.rows < model.count ? `; the first ${countText(model.rows)} are shown` : ''
  byId('status').textContent =
    query === undefined
      ? `${plural(model.count, 'entry', 'entries')}${end}${cut}`
      : `${countText(model.found)} found among ${plural(model.seen, 'entry', 'entries')}${end}${cut}`
}

/** The texts of a row. */
const textsOf = ({ key, summary }) => ({ key: keyText(key), value: summary })

function keyText(key) {
  const form = byId('key-form').value
  if (form === 'hex') return hex(key, ' ') || '(empty)'
  const known =
    form === 'bytewise'
      ? bytewiseText(key)
      : form === 'known'
        ? open.layout.describe(key, shown.node)
        : undefined
  return known ?? (key.length === 0 ? '(empty)' : escaped(key))
}

async function showValue({ key }) {
  const { client, layout } = open
  try {
    const bytes = await client.call('value', { key })
    if (client !== open.client || bytes === undefined) return
    value.show(layout, key, bytes)
    document.body.dataset.pane = 'value'
  } catch (error) {
    showProblem(error)
  }
}

byId('key-form').addEventListener('change', () => list.redraw())

// A search.

byId('search').addEventListener('submit', (event) => {
  event.preventDefault()
  const text = byId('query').value
  const query =
    text === '' ? undefined : { text, where: byId('search-in').value, isHex: byId('as-hex').checked }
  try {
    if (query !== undefined) matcher(query)
  } catch (error) {
    showNotice({ title: 'This cannot be searched for', text: error.message })
    return
  }
  shown.query = query
  hideNotice()
  showEntries()
  document.body.dataset.pane = 'entries'
})
byId('query').addEventListener('input', () => {
  if (byId('query').value !== '' || shown.query === undefined) return
  shown.query = undefined
  showEntries()
})
byId('stop').addEventListener('click', () => shown.model.stop())
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement
  if (event.key === '/' && !isTyping && document.body.dataset.state === 'open') {
    event.preventDefault()
    byId('query').focus()
  }
  if (event.key === 'Escape' && !byId('stop').hidden) shown.model.stop()
})

// An export.

byId('export').addEventListener('click', async () => {
  const { client, database } = open
  const range = { lower: shown.node.lower, upper: shown.node.upper }
  try {
    const blob = await exportEntries(client, { range, query: shown.query })
    if (blob !== undefined) save(blob, `${database.name}.jsonl`)
  } catch (error) {
    showProblem(error)
  }
})

// Notices.

function showProblem(error) {
  const problem = problemOf(error, open.database?.name ?? 'the directory')
  if (document.body.dataset.state === 'opening') document.body.dataset.state = 'empty'
  showNotice(problem)
}

function showNotice({ title, text, advice, places, list, report, canRepair }) {
  const parts = [make('h2', { textContent: title })]
  for (const paragraph of [text, advice]) {
    if (paragraph !== undefined) parts.push(make('p', { textContent: paragraph }))
  }
  if (places !== undefined) {
    const rows = places.map(([program, place]) =>
      make('li', {}, make('b', { textContent: program }), `: ${place}`)
    )
    parts.push(make('ul', {}, ...rows))
  }
  if (list !== undefined) parts.push(list)
  if (report !== undefined) parts.push(make('pre', { textContent: report.trim() }))
  if (canRepair) {
    const repair = make('button', { type: 'button', id: 'repair', textContent: 'Show what is intact' })
    repair.addEventListener('click', () => void openDirectory(open.database, true))
    parts.push(repair)
  }
  const close = make('button', {
    type: 'button',
    className: 'close',
    'aria-label': 'Close',
    textContent: '×'
  })
  close.addEventListener('click', hideNotice)
  byId('notice').replaceChildren(close, ...parts)
  byId('notice').hidden = false
}

function hideNotice() {
  byId('notice').hidden = true
}

// Narrow screens show one part at a time.

for (const button of document.querySelectorAll('[data-to]')) {
  button.addEventListener('click', () => {
    document.body.dataset.pane = button.dataset.to
  })
}
