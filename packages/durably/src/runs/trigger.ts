// Trigger — validates the input of new runs and stores them; a worker does the rest.
import type { RunEvents } from '../events/run-events.ts'
import type { Codec } from '../model/codec.ts'
import { type Duration, durationMs, timeMs } from '../model/duration.ts'
import { type Env, iso } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { type Job, validate } from '../model/job.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import type { Labels } from '../model/labels.ts'
import { checkName } from '../model/name.ts'
import { type Run, type RunRow, toRun } from '../model/run.ts'
import { timeOfId } from '../model/ulid.ts'
import { wrapped } from '../model/wrapper.ts'
import { PARENT, type Parent } from '../store/parent.ts'
import type { Created, NewRun, RunStore } from '../store/runs.ts'
import { lazyRunQuery, type RunQueryCode } from './lazy-run-query.ts'
import type { TriggerWrapper } from './trigger-wrapper.ts'

/** The options of `trigger`, and of each item of `batchTrigger`. */
export interface TriggerOptions {
  /**
   * A second trigger of the same job with the same key stores nothing and returns the run that has the key, also if its input is another
   * one; over HTTP another input is refused with the code `idempotency_conflict`. The key is free again when that run is deleted. At most
   * 512 bytes.
   */
  idempotencyKey?: string
  /** Of all runs with the same key, also of different jobs, at most one executes at a time; the others wait. At most 512 bytes. */
  concurrencyKey?: string
  /**
   * True: the run keeps its concurrency key from its first start until it has ended, also while it sleeps, waits or is to be tried again, so
   * that no other run with the key starts in between. Needs `concurrencyKey`. Default false: it has the key only while it executes.
   */
  holdKey?: boolean
  /**
   * The `workerId` of the worker that is to execute the run: others that called `cluster()` leave it to that one for a short time (`preferFor`)
   * while it is attached and not silent. Give the `workerId` of an earlier run, to go on where data is still in memory. Default: any worker.
   */
  preferWorkerId?: string
  /** By which the run is found: `getRuns({ labels })`. Runs that it triggers have them too. At most 16; see `Labels`. */
  labels?: Labels
  /** The run starts this much later: milliseconds, or a text such as `'5m'`. Give either this or `runAt`. */
  delay?: Duration
  /** The run starts at this time (a `Date`, or milliseconds since 1970); at once if it is past. Give either this or `delay`. */
  runAt?: Date | number
  /**
   * When the run must have ended: a `Date`, or a duration from now such as `'1h'`. Then it fails with reason `timeout`, also if it has not
   * started. Default: never.
   */
  deadline?: Date | Duration
  /** A Kysely transaction on the same database: the run exists if and when it commits. */
  tx?: unknown
}

export const TRIGGER_OPTIONS: KeysOf<TriggerOptions> = {
  idempotencyKey: 1,
  concurrencyKey: 1,
  holdKey: 1,
  preferWorkerId: 1,
  labels: 1,
  delay: 1,
  runAt: 1,
  deadline: 1,
  tx: 1,
}

export interface ChildOptions extends TriggerOptions {
  [PARENT]?: Parent
}

/** One item of `batchTrigger`. */
export interface BatchTriggerInput<TInput> {
  /** The input of the run. */
  payload: TInput
  /** The options of this run, as for `trigger`. If one has `tx`, all items must have the same. */
  options?: TriggerOptions
}

export interface TriggerDeps {
  runs: RunStore
  env: Env
  codec: Codec
  runEvents: RunEvents
  triggerWrappers: readonly TriggerWrapper[]
  /** Throws inside `ctx.transaction`: only a trigger with its `tx` belongs there. */
  refuseInTransaction: () => void
}

export interface Triggered<TOutput> {
  run: Run<TOutput>
  /** False when its idempotency key was known. */
  isNew: boolean
  /** The run that has the key was triggered with the same input. */
  isSameInput: boolean
}

export async function triggerAll<TOutput>(
  deps: TriggerDeps,
  job: Job,
  inputs: readonly BatchTriggerInput<unknown>[],
): Promise<Run<TOutput>[]> {
  return (await triggered<TOutput>(deps, job, inputs)).map(({ run }) => run)
}

/** One transaction: one invalid item stores nothing. */
export async function triggered<TOutput>(
  deps: TriggerDeps,
  job: Job,
  inputs: readonly BatchTriggerInput<unknown>[],
): Promise<Triggered<TOutput>[]> {
  const { env, codec } = deps
  if (inputs.length === 0) return []
  const newRuns = await readInputs(deps, job, inputs)
  return store(deps, inputs, newRuns, (created) =>
    created.map(({ run, created: isNew }, i) => ({
      run: toRun<TOutput>(run, codec, env.wall()),
      isNew,
      isSameInput: run.payload === newRuns[i]?.payload,
    })),
  )
}

/**
 * The same for one run; returns what `as` makes of its row. It is no async function and makes one promise only, because thousands of calls
 * may be pending at once and their memory adds up.
 */
export function triggerRow<T>(deps: TriggerDeps, job: Job, input: BatchTriggerInput<unknown>, as: (row: RunRow) => T): Promise<T> {
  const inputs = [input]
  const answer = ([created]: readonly Created[]) => {
    if (!created) throw new Error('S2: create must answer for each run')
    return as(created.run)
  }
  try {
    const newRuns = readInputs(deps, job, inputs)
    if (newRuns instanceof Promise) return newRuns.then((read) => store(deps, inputs, read, answer))
    return store(deps, inputs, newRuns, answer)
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Not a promise if the schema is synchronous and no code has to be loaded to read the options. */
function readInputs(deps: TriggerDeps, job: Job, inputs: readonly BatchTriggerInput<unknown>[]): NewRun[] | Promise<NewRun[]> {
  const payloads = readPayloads(job, inputs)
  const code = inputs.some(
    ({ options }) => options?.labels !== undefined || options?.holdKey !== undefined || options?.preferWorkerId !== undefined,
  )
    ? lazyRunQuery(deps.env)
    : undefined
  if (payloads instanceof Promise || code instanceof Promise)
    return Promise.all([payloads, code]).then(([read, loaded]) => newRunsOf(deps, job, inputs, read, loaded))
  return newRunsOf(deps, job, inputs, payloads, code)
}

function readPayloads(job: Job, inputs: readonly BatchTriggerInput<unknown>[]): unknown[] | Promise<unknown[]> {
  const read = (i: number) => validate(job.input, inputs[i]?.payload, 'invalid_input', () => inputName(job, inputs, i))
  const payloads: unknown[] = []
  for (let i = 0; i < inputs.length; i++) {
    const payload = read(i)
    if (payload instanceof Promise) return readOn(payloads, payload, read, inputs.length)
    payloads[i] = payload
  }
  return payloads
}

/** Validates one item after the other, so that the error is about the first invalid one. */
async function readOn(payloads: unknown[], next: Promise<unknown>, read: (i: number) => unknown, length: number): Promise<unknown[]> {
  payloads.push(await next)
  while (payloads.length < length) payloads.push(await read(payloads.length))
  return payloads
}

function newRunsOf(
  deps: TriggerDeps,
  job: Job,
  inputs: readonly BatchTriggerInput<unknown>[],
  payloads: readonly unknown[],
  code: RunQueryCode | undefined,
): NewRun[] {
  return inputs.map(({ options = {} }, i) => {
    const run = newRun(deps, job, payloads[i], options, inputName(job, inputs, i))
    code?.readRareOptions(run, options)
    return run
  })
}

function store<T>(
  deps: TriggerDeps,
  inputs: readonly BatchTriggerInput<unknown>[],
  newRuns: readonly NewRun[],
  answer: (created: readonly Created[]) => T,
): Promise<T> {
  const within = oneTransaction(inputs)
  if (within === undefined) deps.refuseInTransaction()
  const { runs } = deps
  const parent = (inputs[0]?.options as ChildOptions | undefined)?.[PARENT]
  const create = () => (parent ? Promise.all(newRuns.map((run) => parent.create(run, runs))) : runs.create(newRuns, { within }))
  return wrapped(deps.triggerWrappers, newRuns, create).then((created) => {
    // Inside a transaction of the caller it is not yet known whether the runs will exist.
    if (within === undefined) for (const { run, created: isNew } of created) if (isNew) deps.runEvents.emit('run:trigger', () => ({ run }))
    return answer(created)
  })
}

/** A batch is one transaction, so there can be only one. */
function oneTransaction(inputs: readonly BatchTriggerInput<unknown>[]): unknown {
  const tx = inputs[0]?.options?.tx
  if (inputs.some(({ options }) => options?.tx !== tx))
    throw new DurablyError('invalid_argument', 'all items of a batch must have the same tx')
  return tx
}

function newRun({ env, codec }: TriggerDeps, job: Job, payload: unknown, options: ChildOptions, what: string): NewRun {
  checkKeys('trigger', options, TRIGGER_OPTIONS)
  const id = env.id()
  const { delayMs, runAt, deadlineMs, deadlineAt } = times(options)
  const parent = options[PARENT]
  return {
    id,
    jobName: job.name,
    payload: codec.encode(payload, what),
    idempotencyKey: key('idempotencyKey', options.idempotencyKey),
    concurrencyKey: key('concurrencyKey', options.concurrencyKey),
    holdKey: false,
    // The id's own time, so that ids and creation times give the same order (ADR 0003).
    createdAt: iso(timeOfId(id)),
    delayMs,
    runAt,
    deadlineMs,
    deadlineAt,
    parentRunId: parent?.runId ?? null,
    parentStep: parent?.step ?? null,
    parentToken: parent?.token ?? null,
    labels: parent?.labels ?? null,
    unchecked: job.isForeign === true,
  }
}

type Times = Pick<NewRun, 'delayMs' | 'runAt' | 'deadlineMs' | 'deadlineAt'>

const AT_ONCE: Times = { delayMs: null, runAt: null, deadlineMs: null, deadlineAt: null }

/** Durations stay durations: the store counts them from its own now. */
function times({ delay, runAt, deadline }: TriggerOptions): Times {
  if (delay === undefined && runAt === undefined && deadline === undefined) return AT_ONCE
  if (delay !== undefined && runAt !== undefined) throw new DurablyError('invalid_argument', 'give either delay or runAt, not both')
  const isTime = deadline instanceof Date
  return {
    delayMs: delay === undefined ? null : durationMs('delay', delay),
    runAt: runAt === undefined ? null : timeMs('runAt', runAt),
    deadlineMs: deadline === undefined || isTime ? null : durationMs('deadline', deadline),
    deadlineAt: isTime ? timeMs('deadline', deadline) : null,
  }
}

function key(field: string, value: string | undefined): string | null {
  return value === undefined ? null : checkName(field, value)
}

function inputName(job: Job, inputs: readonly unknown[], i: number): string {
  const where = inputs.length > 1 ? ` (item ${i})` : ''
  return `input of job ${JSON.stringify(job.name)}${where}`
}

export function checkBatch(inputs: unknown): asserts inputs is BatchTriggerInput<unknown>[] {
  const wellFormed = Array.isArray(inputs) && inputs.every((item) => typeof item === 'object' && item !== null && 'payload' in item)
  if (!wellFormed) throw new DurablyError('invalid_argument', 'batchTrigger takes an array of { payload, options? }')
}
