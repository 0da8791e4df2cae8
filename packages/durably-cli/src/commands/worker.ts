import type { Durably, DurablyOptions, Duration } from '@coji/durably'
import { cluster } from '@coji/durably/cluster'
import { withLogPersistence } from '@coji/durably/plugins'
import type { Command } from '../command.ts'
import { labelsOf } from '../conditions.ts'
import { CliError, EXIT } from '../exit-code.ts'
import type { Given } from '../given.ts'
import { defineJobs, loadJobFile } from '../job-file.ts'
import { openDurably } from '../open.ts'
import type { Io } from '../output/io.ts'
import { checkExists, placeOf } from '../place.ts'
import { Metrics } from '../worker/metrics.ts'
import { openProbes } from '../worker/probes.ts'
import { sayWhenReachable } from '../worker/reachability.ts'
import { untilAskedToStop } from '../worker/stopping.ts'

const PORT = 9464
const GRACE_S = 10

export const worker: Command = {
  name: 'worker',
  summary: 'execute runs of the jobs that files define, until SIGTERM',
  about:
    'A job file exports a function that defines its jobs: export default (durably) => { durably.defineJob(…) }\n' +
    'On SIGTERM it claims no more runs; those that are active after --grace are given back to other workers.',
  args: [{ name: 'file', what: 'files that define jobs, in TypeScript or JavaScript', many: true }],
  options: {
    concurrency: { value: 'number', short: 'c', what: 'how many runs at once; 1 by default' },
    'worker-id': { value: 'name', what: 'the name of this worker; made from host and process by default' },
    label: { value: 'name=value', short: 'l', many: true, what: 'what this worker is, for jobs with runsOn' },
    dispatch: { value: 'how', choices: ['claim', 'leader'], what: 'who chooses the worker of a run' },
    lease: { value: 'ms', what: 'after how long without a sign its runs are taken over; 30000 by default' },
    retention: { value: 'duration', what: 'remove runs that ended so long ago, such as 30d' },
    grace: { value: 'seconds', what: `how long active runs may go on after SIGTERM; ${GRACE_S} by default` },
    migrate: { what: 'create or update the tables first' },
    logs: { what: 'store the log lines of jobs in the database' },
    host: {
      value: 'address',
      what: 'where /health, /ready and /metrics are served; 127.0.0.1 by default, 0.0.0.0 for probes from outside',
    },
    port: { value: 'number', what: `their port; ${PORT} by default, 0 for any` },
    counts: { what: '/metrics also counts all runs by phase, which reads every run that is kept' },
    'no-http': { what: 'serve no endpoints' },
  },
  examples: [
    'durably worker ./jobs.ts --db app.db',
    'durably worker ./jobs/*.ts --concurrency 20 --host 0.0.0.0 --retention 30d',
    'curl localhost:9464/metrics',
  ],
  async run(given, io) {
    const place = placeOf(given, io)
    if (!given.has('migrate')) checkExists(place)
    await using durably = openDurably(place, { logger: console, ...optionsOf(given) })
    if (given.has('migrate')) await durably.migrate()
    if (given.has('logs')) durably.use(withLogPersistence())
    const metrics = new Metrics(durably)
    await defineAll(durably, given)
    join(durably, given)
    const graceMs = (given.wholeNumber('grace', { min: 0, max: 3600 }) ?? GRACE_S) * 1000
    await serve(durably, metrics, given, io, graceMs)
    return EXIT.done
  },
}

async function serve(durably: Durably, metrics: Metrics, given: Given, io: Io, graceMs: number): Promise<void> {
  const stopping = untilAskedToStop()
  const options = {
    host: given.text('host') ?? '127.0.0.1',
    port: given.wholeNumber('port', { min: 0, max: 65_535 }) ?? PORT,
    counts: given.has('counts'),
  }
  const probes = given.has('no-http') ? null : await openProbes(durably, metrics, { ...options, isStopping: () => stopping.isAsked })
  const unheard = sayWhenReachable(durably, (text) => io.err(text))
  try {
    durably.start()
    const jobs = [...durably.jobs.keys()]
    if (given.has('json')) io.out(JSON.stringify({ jobs, url: probes?.url ?? null, pid: process.pid }))
    else io.out(`executing ${jobs.join(', ')}${probes ? `; ${probes.url}/health, /ready, /metrics` : ''}`)
    await stopping.asked
    io.err(`stopping; active runs have ${graceMs / 1000} s, then they are given back`)
    await durably.stop({ timeout: graceMs })
  } finally {
    unheard()
    probes?.close()
  }
}

async function defineAll(durably: Durably, given: Given): Promise<void> {
  for (const path of given.args('file')) await defineJobs(durably, await loadJobFile(path))
  if (durably.jobs.size === 0) throw new CliError(`${given.args('file').join(' and ')} defined no job`, EXIT.usage)
}

/** Into the register that `durably workers` shows. */
function join(durably: Durably, given: Given): void {
  const labels = labelsOf(given)
  const dispatch = given.text('dispatch') as 'claim' | 'leader' | undefined
  cluster(durably, { ...(labels && { labels }), ...(dispatch && { dispatch }) })
}

function optionsOf(given: Given): Omit<DurablyOptions, 'dialect' | 'tablePrefix'> {
  const numbers = { concurrency: given.wholeNumber('concurrency'), staleThreshold: given.wholeNumber('lease') }
  const texts = { workerId: given.text('worker-id'), retention: given.text('retention') as Duration | undefined }
  return Object.fromEntries(Object.entries({ ...numbers, ...texts }).filter(([, value]) => value !== undefined))
}
