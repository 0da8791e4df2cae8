import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from '../command.ts'
import { playDemo } from '../dev/demo.ts'
import { findJobFiles } from '../dev/find-job-files.ts'
import { listenToKeys } from '../dev/keys.ts'
import { devPage } from '../dev/page.ts'
import { serveDev } from '../dev/server.ts'
import { DevSession } from '../dev/session.ts'
import { untilReady } from '../dev/until-ready.ts'
import type { WorkerState } from '../dev/worker-process.ts'
import { checkSchema } from '../doctor/schema.ts'
import { CliError, EXIT } from '../exit-code.ts'
import type { Given } from '../given.ts'
import type { Io } from '../output/io.ts'
import { paint } from '../output/paint.ts'
import { printableLines } from '../output/printable.ts'
import { DEV_FILE, parsePlace } from '../place.ts'

const PORT = 4780
const SAMPLES = fileURLToPath(new URL('../dev/sample-jobs.js', import.meta.url))

export const dev: Command = {
  name: 'dev',
  summary: 'try jobs out: a database, a worker that reloads your files, a page, and a key that kills the worker',
  about:
    'Without files it finds jobs.ts, src/jobs.ts, *.job.ts and the folders jobs and src/jobs; without any of them, and without --db, it brings sample jobs.\n' +
    'Everything stays on this machine. The buttons of the page are requests, too: POST /dev/kill, /dev/pause, /dev/slow, /dev/advance.',
  args: [{ name: 'file', what: 'files that define jobs', optional: true, many: true }],
  options: {
    db: { value: 'file', what: `the SQLite file; ${DEV_FILE} by default` },
    port: { value: 'number', what: `the first port that is tried; ${PORT} by default, 0 for any` },
    'no-demo': { what: 'play no demo where there is no terminal' },
  },
  withoutDatabase: true,
  examples: ['durably dev', 'durably dev ./jobs.ts --port 5000', 'curl -X POST localhost:4780/dev/kill'],
  async run(given, io) {
    const database = given.text('db') ?? DEV_FILE
    await prepare(database)
    const files = jobFilesOf(given)
    // The runs of somebody's own database are not for sample code, which may have jobs of the same names.
    const isSample = files().length === 0 && !given.has('db')
    const readiness = untilReady()
    const session = new DevSession({
      database,
      areFound: given.args('file').length === 0,
      files: () => (isSample ? [SAMPLES] : files()),
      onReady(state) {
        showJobs(io, state, isSample)
        readiness.arrived()
      },
      onHung: (pid) =>
        io.err(
          `worker ${pid} has not loaded the job files in time, so it is killed: does one of them wait for something at its top level?`,
        ),
      onExit: ({ pid, signal, code, wasAsked }) => {
        if (!wasAsked) io.err(`worker ${pid} ended (${signal ?? `exit code ${code}`}); another one starts`)
      },
      onTrouble: (error) => io.err(String(error)),
      onChange: () => io.out('a file has changed: the worker gives its runs back and is replaced'),
    })
    await serve(session, readiness.ready, given, io, isSample)
    return EXIT.done
  },
}

async function serve(session: DevSession, ready: Promise<void>, given: Given, io: Io, isSample: boolean): Promise<void> {
  const { page, hasDashboard } = await devPage()
  const asked = given.wholeNumber('port', { min: 0, max: 65_535 }) ?? PORT
  const quitting = new AbortController()
  const quit = () => quitting.abort()
  io.interrupted.addEventListener('abort', quit)
  await session.start()
  const server = await serveDev(session, page, asked)
  if (asked !== 0 && server.port !== asked) io.err(`port ${asked} is taken, so it is ${server.port}`)
  if (given.has('json')) io.out(JSON.stringify({ url: server.url, ...session.state }))
  io.out(`${paint(io, 'bold', server.url)}${hasDashboard ? '' : '   (npm install @coji/durably-ui brings the dashboard)'}`)
  const giveBack = listenToKeys(session, io, quit)
  try {
    await ready
    if (!io.isTerminal && isSample && !given.has('no-demo')) {
      await playDemo(session, io, quitting.signal).catch((error: unknown) => {
        if (!quitting.signal.aborted) throw error
      })
      if (!quitting.signal.aborted) io.out(`${server.url} goes on until it is interrupted (Ctrl-C)`)
    }
    await new Promise<void>((resolve) => (quitting.signal.aborted ? resolve() : quitting.signal.addEventListener('abort', () => resolve())))
  } finally {
    giveBack()
    server.close()
    await session.end()
  }
}

/** Before anything is opened: a database of a newer version is left alone. */
async function prepare(database: string): Promise<void> {
  const place = { ...parsePlace(database), schema: undefined, tablePrefix: undefined, options: '', now: Date.now }
  if (place.kind !== 'sqlite')
    throw new CliError('durably dev keeps its runs in a SQLite file; for Postgres use durably worker', EXIT.usage)
  mkdirSync(dirname(resolve(database)), { recursive: true })
  // Nobody wants the runs of an afternoon in a repository.
  const ignore = join(dirname(DEV_FILE), '.gitignore')
  if (database === DEV_FILE && !existsSync(ignore)) writeFileSync(ignore, '*\n')
  const { state, what, remedy } = await checkSchema(place)
  if (state === 'bad' && what.includes('too new')) throw new CliError(`${database}: ${what}\n  ${remedy}`, EXIT.database)
}

function jobFilesOf(given: Given): () => string[] {
  const named = given.args('file')
  return named.length > 0 ? () => named.map((file) => resolve(file)) : () => findJobFiles(process.cwd())
}

function showJobs(io: Io, { pid, jobs, failures }: WorkerState, isSample: boolean): void {
  const shown = jobs.map(({ name }) => name).join(', ') || 'no jobs, so it executes nothing (name the files that define them)'
  io.out(`worker ${pid}: ${shown}${isSample ? ' (sample jobs: there are no job files here)' : ''}`)
  for (const { file, message } of failures) io.err(paint(io, 'red', `${relative(process.cwd(), file)}: ${printableLines(message)}`))
}
