/** A table of results: a row for each runtime, a column for each job, with what passed and what failed, or the size of what was installed. */
export function table(results, jobs) {
  const cell = (counts) => {
    if (!counts) return '–'
    if (counts.failed > 0) return `${counts.passed}, **${counts.failed} failed**`
    if (counts.sizeBytes) return `${(counts.sizeBytes / 1e6).toFixed(1)} MB`
    return counts.known ? `${counts.passed}, ${counts.known} not` : `${counts.passed}`
  }
  return [
    `| runtime | build | ${jobs.join(' | ')} |`,
    `|---|---|${jobs.map(() => '--:|').join('')}`,
    ...Object.entries(results).map(([name, { build, skipped, ...counts }]) => {
      const cells = jobs.map((job, i) => (skipped ? (i === 0 ? 'skipped' : '') : cell(counts[job])))
      return `| ${name} | ${build} | ${cells.join(' | ')} |`
    }),
    ...Object.entries(results).flatMap(([name, { skipped }]) => (skipped ? [`\n${name}: ${skipped}`] : []))
  ].join('\n')
}
