// `npm run bench`: the rows of BENCHMARKS.md; with --check, counts against the baseline; with a name, one of the other measurements.
const OTHERS = ['stream-latency', 'sse', 'task-queue', 'browser', 'fleet-cost']

const [first = ''] = process.argv.slice(2)
if (OTHERS.includes(first)) {
  process.argv.splice(2, 1)
  await import(`./${first}.js`)
} else if (first === '--check') await import('./check/check.js')
else if (first === '' || first.startsWith('--')) await import('./speed/speed.js')
else {
  console.error(
    `usage: npm run bench [-- --quick | --only <row> | --check [--update] | <name>]\n\n${OTHERS.map((name) => `  ${name}`).join('\n')}`,
  )
  process.exitCode = 1
}
