// The recorded steps and the log lines of a run, in pages, its signals, and what it waits for.
import type { Codec } from '../model/codec.ts'
import { DECISION_PREFIX } from '../model/decision-name.ts'
import { DurablyError } from '../model/errors.ts'
import { isUlid } from '../model/is-ulid.ts'
import type { Log, LogRow } from '../model/log.ts'
import { type PageOptions, readPage } from '../model/page-options.ts'
import type { Run } from '../model/run.ts'
import { wrong } from '../model/run-filter.ts'
import type { SentSignal } from '../model/signal.ts'
import type { Step, StepRow } from '../model/step.ts'
import { toStep } from '../model/to-step.ts'
import { allOf, pagesOf } from '../store/pages-of.ts'
import type { Store } from '../store/store.ts'

interface RunRowsDeps {
  store: Store
  codec: Codec
}

export async function getSteps(deps: RunRowsDeps, runId: string, options?: PageOptions): Promise<Step[]> {
  const rows = await allOf(stepPages(deps.store, runId, options))
  return (rows ?? []).map((row) => toStep(row, deps.codec))
}

export async function getLogs(deps: RunRowsDeps, runId: string, options?: PageOptions): Promise<Log[]> {
  const rows = await allOf(logPages(deps.store, runId, options))
  return (rows ?? []).map((row) => toLog(row, deps.codec))
}

/** In the order they were sent. Whether the run has received one is known from its step, which records `[]` when the time was over. */
export async function getSignals({ store, codec }: RunRowsDeps, runId: string): Promise<SentSignal[]> {
  const sent = (await store.signals.list(runId)).filter(({ name }) => !name.startsWith(DECISION_PREFIX))
  const received = new Set<string>()
  if (sent.length > 0)
    for await (const steps of pagesOf((page) => store.steps.list(runId, page)))
      for (const { name, status, output } of steps ?? []) if (status === 'completed' && output !== '[]') received.add(name)
  return sent.map(({ name, value, createdAt }) => ({ name, value: codec.decode(value), createdAt, received: received.has(name) }))
}

/** The run with what its own row does not say of what it waits for. */
export async function withWait<T extends Run>(
  { store, hasWorker }: Pick<RunRowsDeps, 'store'> & { hasWorker: (jobName: string) => boolean },
  run: T,
): Promise<T> {
  const { id, jobName, concurrencyKey, waitingFor } = run
  if (waitingFor?.kind === 'child') {
    const child = await store.runs.getChild(id, waitingFor.step)
    return child ? { ...run, waitingFor: { ...waitingFor, runId: child.id, jobName: child.jobName } } : run
  }
  if (waitingFor?.kind !== 'slot') return run
  const holder = concurrencyKey === null ? null : await store.runs.getHolder(concurrencyKey)
  if (holder && holder.id !== id) return { ...run, waitingFor: { kind: 'key', heldBy: holder.id } }
  return hasWorker(jobName) ? run : { ...run, waitingFor: { kind: 'worker' } }
}

export async function* stepPages(store: Store, runId: string, options?: PageOptions): AsyncGenerator<StepRow[]> {
  const page = readPage('getSteps', options)
  let isFirst = true
  for await (const steps of pagesOf((part) => store.steps.list(runId, part), page)) {
    if (isFirst && steps?.length === 0 && page.after !== undefined) await checkKnown(store, runId, page.after)
    isFirst = false
    yield steps ?? []
  }
}

export async function* logPages(store: Store, runId: string, options?: PageOptions): AsyncGenerator<LogRow[]> {
  const page = readPage('getLogs', options)
  if (page.after !== undefined && !isUlid(page.after)) throw wrong('cursor', 'the id of a log line', page.after)
  for await (const lines of pagesOf((part) => store.logs.list(runId, part), page)) yield lines ?? []
}

export function toLog(row: LogRow, codec: Codec): Log {
  return { ...row, data: codec.decode(row.data) }
}

/** There is nothing after a step that is not there, and that would look like the end. */
async function checkKnown(store: Store, runId: string, stepId: string): Promise<void> {
  const [step] = await store.steps.find(runId, [stepId])
  if (!step)
    throw new DurablyError(
      'invalid_argument',
      `cursor must be the id of a step of run ${runId}, got ${JSON.stringify(stepId)}; if the run was deleted, it has no steps any more`,
    )
}
