// Reads the text format of Prometheus, strictly: every sample belongs to the metric that was announced before it.

const HELP = /^# HELP ([a-zA-Z_:][\w:]*) (.+)$/
const TYPE = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y

/** Returns the metrics by name: `{ type, help, samples: [{ name, labels, value }] }`. Throws if the text is not valid. */
export function parse(text) {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const metrics = new Map()
  let current
  for (const line of text.slice(0, -1).split('\n')) {
    const [, helped, help] = HELP.exec(line) ?? []
    const [, typed, type] = TYPE.exec(line) ?? []
    if (helped !== undefined) {
      if (metrics.has(helped)) throw new Error(`${helped} comes twice`)
      current = { name: helped, help, samples: [] }
      metrics.set(helped, current)
    } else if (typed !== undefined) {
      if (current?.name !== typed || current.type !== undefined) throw new Error(`misplaced: ${line}`)
      current.type = type
    } else {
      const sample = parseSample(line)
      const suffixes = current.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!suffixes.some((suffix) => sample.name === current.name + suffix))
        throw new Error(`misplaced: ${line}`)
      current.samples.push(sample)
    }
  }
  return metrics
}

function parseSample(line) {
  const match = SAMPLE.exec(line)
  if (match === null) throw new Error(`not a sample: ${line}`)
  const [, name, list = '', text] = match
  const value = Number(text.replace('+Inf', 'Infinity'))
  if (Number.isNaN(value)) throw new Error(`not a number: ${line}`)

  const labels = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < list.length) {
    const label = LABEL.exec(list)
    if (label === null) throw new Error(`wrong labels: ${line}`)
    labels[label[1]] = label[2].replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped))
  }
  return { name, labels, value }
}
