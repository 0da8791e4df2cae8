// `npm run bench`: the rows of BENCHMARKS.md; with --check, counts against the baseline; with a name, one of the other measurements.
const OTHERS = {
  'stream-latency': 'from emit() in a worker process to subscribe() in another one',
  sse: 'from emit() in a worker process to an SSE client, and what 200 open streams cost',
  'task-queue': 'the task queue in memory against other queues',
  browser: 'durable steps in Chromium',
  'fleet-cost': 'what ten worker processes cost one Postgres',
  limits: 'what must stay small however much there is: late timers, claims behind blocked runs, long runs, memory',
}

const USAGE = `usage:
  npm run bench                      every row, up to five rounds, within 30 minutes; writes BENCHMARKS.md
  npm run bench -- --quick           every row once, small, in about three minutes; shows that everything works
  npm run bench -- --only <row>      one row, or several of them; --rounds <n> sets the number of rounds
  npm run bench -- --check           no times: statements, commits, pages and bytes of log against bench/baseline.json; --update writes it
${Object.entries(OTHERS)
  .map(([name, what]) => `  npm run bench -- ${name.padEnd(18)}${what}`)
  .join('\n')}
Only ratios can be compared between machines. More: bench/README.md`

const [first = ''] = process.argv.slice(2)
if (Object.hasOwn(OTHERS, first)) {
  process.argv.splice(2, 1)
  await import(`./${first}.js`)
} else if (first === '--check') await import('./check/check.js')
else if (/^(--(quick|only|rounds)\b.*)?$/.test(first)) await import('./speed/speed.js')
else if (first === '--help' || first === '-h') console.log(USAGE)
else {
  console.error(`unknown: ${first}\n\n${USAGE}`)
  process.exitCode = 1
}
