// The worker process of `durably dev`: it loads the job files, executes their runs, and ends with its parent.
import type { Durably } from '@coji/durably'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { CliError } from '../exit-code.ts'
import { defineJobs, loadFoundFile, loadJobFile } from '../job-file.ts'
import { DevClock } from './clock.ts'
import { devInstance } from './dev-instance.ts'
import type { DevJob, FileFailure, FromWorker, ToWorker } from './messages.ts'

const CONCURRENCY = 5

const [database = '', how, ...files] = process.argv.slice(2)
const read = how === 'found' ? loadFoundFile : loadJobFile
const slowness = { isSlow: false }
const durably = devInstance({ database, clock: new DevClock(database), slowness, concurrency: CONCURRENCY })
const schemas = new Map<string, StandardSchemaV1>()

function tell(message: FromWorker): void {
  if (process.connected) process.send?.(message)
}

/** The instance keeps the schemas of jobs to itself; the server needs them to check what a form sends. */
function rememberSchemas(durably: Durably): void {
  const define = durably.defineJob.bind(durably)
  const value: Durably['defineJob'] = (definition, run) => {
    const handle = define(definition, run)
    schemas.set(definition.name, definition.input)
    return handle
  }
  Object.defineProperty(durably, 'defineJob', { value })
}

async function load(): Promise<{ jobs: DevJob[]; failures: FileFailure[] }> {
  const jobs: DevJob[] = []
  const failures: FileFailure[] = []
  for (const file of files) {
    try {
      const jobFile = await read(file)
      const names = jobFile ? await defineJobs(durably, jobFile) : []
      for (const name of names) jobs.push({ name, inputSchema: durably.jobs.get(name)?.inputSchema() ?? null, file })
    } catch (error) {
      failures.push({ file, message: messageOf(error) })
    }
  }
  return { jobs, failures }
}

/** What is wrong with a file is said already; what its function threw has a stack that leads into it. */
function messageOf(error: unknown): string {
  if (error instanceof CliError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

async function validated(jobName: string, value: unknown): Promise<StandardSchemaV1.Result<unknown>> {
  const schema = schemas.get(jobName)
  if (!schema) return { issues: [{ message: `no job file defines ${JSON.stringify(jobName)} now` }] }
  const result = await schema['~standard'].validate(value)
  // What a schema library adds to an issue may not be fit to be sent.
  return result.issues
    ? { issues: result.issues.map(({ message, path }) => ({ message, path: path?.map(keyOf) ?? [] })) }
    : { value: result.value }
}

function keyOf(segment: PropertyKey | StandardSchemaV1.PathSegment): string | number {
  const key = typeof segment === 'object' ? segment.key : segment
  return typeof key === 'number' ? key : String(key)
}

/** Without jobs it leaves everything to other processes, also schedules and the runs of lost workers. */
function begin(): void {
  if (durably.jobs.size > 0) durably.start()
}

async function handle(message: ToWorker): Promise<void> {
  if (message.type === 'slow') slowness.isSlow = message.isSlow
  if (message.type === 'validate') tell({ type: 'validated', id: message.id, result: await validated(message.jobName, message.value) })
  if (message.type === 'pause') message.isPaused ? await durably.stop({ timeout: 0 }) : begin()
  if (message.type !== 'stop') return
  await durably.stop({ timeout: 0 })
  process.exit()
}

// Ctrl-C reaches the whole group of processes; the parent says when to stop.
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())
rememberSchemas(durably)
const loaded = await load()
process.on('message', (message: ToWorker) => void handle(message))
begin()
tell({ type: 'ready', ...loaded })
