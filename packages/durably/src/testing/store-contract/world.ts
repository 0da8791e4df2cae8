// The cast of the contract: runs, owners and what they write, with values that a case overrides where it matters.
import { iso } from '../../model/env.ts'
import type { RecordedEvent } from '../../model/event.ts'
import type { LogRow } from '../../model/log.ts'
import type { RunRow, RunStatus } from '../../model/run.ts'
import type { SignalRow } from '../../model/signal.ts'
import type { StepRow } from '../../model/step.ts'
import { encodeStreams } from '../../model/stream.ts'
import { encodeWaits, NEVER_MS, type Wait } from '../../model/wait.ts'
import type { Claim, OwnerVerb, OwnerWrite, WriteOutcome } from '../../store/owner-write.ts'
import type { NewRun } from '../../store/runs.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import type { World } from './chapter.ts'

export const JOB = 'import-users'
export const LEASE_MS = 30_000
/** A name that JSON must escape. */
export const WORKER = 'host/7/"a"'

export const ACCEPTED: WriteOutcome = { ok: true, cancelRequested: false }
export const REFUSED: WriteOutcome = { ok: false }

export function newRun({ env }: Pick<World, 'env'>, run: Partial<NewRun> = {}): NewRun {
  const createdAt = iso(env.wall())
  const keys = { idempotencyKey: null, concurrencyKey: null, holdKey: false, labels: null }
  const times = { delayMs: null, runAt: null, deadlineMs: null, deadlineAt: null }
  return {
    id: env.id(),
    jobName: JOB,
    payload: '{"page":1}',
    ...keys,
    ...times,
    parentRunId: null,
    parentStep: null,
    parentToken: null,
    createdAt,
    ...run,
  }
}

export async function create(world: World, run: Partial<NewRun> = {}): Promise<RunRow> {
  const [created] = await world.store.runs.create([newRun(world, run)])
  ok(created, 'create answers for each run')
  return created.run
}

/** One for each key, a millisecond apart. */
export async function createInTurn(world: World, keys: readonly (string | null)[]): Promise<RunRow[]> {
  const runs: RunRow[] = []
  for (const concurrencyKey of keys) {
    runs.push(await create(world, { concurrencyKey }))
    await world.env.advance(1)
  }
  return runs
}

export function ids(runs: readonly { id: string }[]): string[] {
  return runs.map((run) => run.id)
}

export function byId<T extends { id: string }>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** What gathered since the owner's last write. */
export type Attachments = Pick<OwnerWrite, 'events' | 'logs' | 'progress' | 'streams' | 'effects'>

export const NO_ATTACHMENTS: Attachments = { events: [], logs: [], progress: null, streams: null, effects: null }

/** Someone who claimed a run, and numbers the writes as a worker does. */
export class Owner {
  readonly world: World
  readonly run: RunRow
  readonly claim: Claim
  #number = 0

  constructor(world: World, run: RunRow, token: string) {
    this.world = world
    this.run = run
    this.claim = { runId: run.id, generation: run.leaseGeneration, token, parentRunId: run.parentRunId, leaderEpoch: run.leaderEpoch }
  }

  /** The next write, to be sent by the case itself. */
  next(verb: OwnerVerb, attachments: Partial<Attachments> = {}): OwnerWrite {
    this.#number += 1
    return { claim: this.claim, number: this.#number, verb, ...NO_ATTACHMENTS, ...attachments }
  }

  write(verb: OwnerVerb, attachments: Partial<Attachments> = {}): Promise<WriteOutcome> {
    return send(this.world, this.next(verb, attachments))
  }

  /** A write that the case takes for granted. */
  async succeed(verb: OwnerVerb, attachments: Partial<Attachments> = {}): Promise<void> {
    ok((await this.write(verb, attachments)).ok, `${verb.type} by the owner is accepted`)
  }
}

export async function send({ store }: World, write: OwnerWrite): Promise<WriteOutcome> {
  const [outcome] = await store.runs.apply([write])
  ok(outcome, 'apply answers for each write')
  return outcome
}

export async function claim(world: World, jobNames?: readonly string[], leaseMs?: number, confirmMs?: number): Promise<Owner | null> {
  const [owner = null, ...others] = await claimUpTo(1, world, jobNames, leaseMs, confirmMs)
  equal(others.length, 0, 'runs beyond the one that was wanted')
  return owner
}

/** Several in one call. */
export async function claimUpTo(
  wanted: number,
  world: World,
  jobNames: readonly string[] = [JOB],
  leaseMs = LEASE_MS,
  confirmMs = 0,
): Promise<Owner[]> {
  const tokens = Array.from({ length: wanted }, () => `worker/${world.env.id()}`)
  const runs = await world.store.runs.claim({ jobNames, tokens, leaseMs, confirmMs, workerId: WORKER })
  return runs.map((run) => {
    ok(run.leaseOwner !== null && tokens.includes(run.leaseOwner), 'a claimed run is held under one of the tokens')
    return new Owner(world, run, run.leaseOwner)
  })
}

export async function mustClaim(world: World, jobNames?: readonly string[], leaseMs?: number, confirmMs?: number): Promise<Owner> {
  const owner = await claim(world, jobNames, leaseMs, confirmMs)
  ok(owner, 'there is a run to claim')
  return owner
}

/** Far more than a case creates; a broken store must not keep it for ever. */
const CLAIMS_MAX = 100

/** Claims until there is nothing left. */
export async function claimAll(world: World, jobNames?: readonly string[]): Promise<Owner[]> {
  const owners: Owner[] = []
  for (let owner = await claim(world, jobNames); owner; owner = await claim(world, jobNames)) {
    owners.push(owner)
    ok(owners.length < CLAIMS_MAX, 'the claims come to an end')
  }
  return owners
}

/** A new run and its owner; nothing else may be claimable. */
export async function held(world: World, run: Partial<NewRun> = {}, confirmMs?: number): Promise<Owner> {
  const { id, jobName } = await create(world, run)
  const owner = await mustClaim(world, [jobName], LEASE_MS, confirmMs)
  equal(owner.run.id, id, 'the claimed run, which is the new one')
  return owner
}

/** Lets every lease run out. */
export async function leasesEnd({ env }: World): Promise<void> {
  await env.advance(LEASE_MS + 1000)
}

export const heartbeat = (leaseMs = LEASE_MS): OwnerVerb => ({ type: 'heartbeat', leaseMs })
export const complete = (output: string | null = '"done"'): OwnerVerb => ({ type: 'complete', output })
export const release = (): OwnerVerb => ({ type: 'release' })
export const abandon = (): OwnerVerb => ({ type: 'abandon' })
export const fail = (error = 'boom'): OwnerVerb => ({
  type: 'fail',
  error,
  failure: JSON.stringify({ name: 'Error', message: error }),
  reason: 'error',
  failedStepName: 'fetch',
})

/** The attempt has failed, the next one is due at `runAt`. */
export const retryLater = (runAt: number, error = 'boom'): OwnerVerb => ({
  type: 'retryLater',
  runAt,
  error,
  failure: JSON.stringify({ name: 'Error', message: error }),
  attempt: 1,
  waitingFor: encodeWaits([{ name: 'import-users', kind: 'retry', dueAt: runAt }]),
})

/** By someone who has seen `signals` of them. */
export function park(waits: readonly Wait[], signals = 0): OwnerVerb {
  const dueAt = waits.map((wait) => wait.dueAt ?? NEVER_MS)
  return { type: 'park', runAt: Math.min(...dueAt), waitingFor: encodeWaits(waits), signals }
}

export function recordStep(owner: Owner, step: Partial<StepRow> = {}, leaseMs = LEASE_MS): OwnerVerb {
  const { env } = owner.world
  const at = iso(env.wall())
  return {
    type: 'recordStep',
    leaseMs,
    step: {
      id: env.id(),
      runId: owner.claim.runId,
      name: 'fetch',
      index: 0,
      status: 'completed',
      output: '[1,2,3]',
      error: null,
      failure: null,
      startedAt: at,
      completedAt: at,
      leaseGeneration: owner.claim.generation,
      ...step,
    },
  }
}

export function recordFailedStep(owner: Owner, step: Partial<StepRow> = {}): OwnerVerb {
  const failure = '{"name":"Error","message":"no answer"}'
  return recordStep(owner, { status: 'failed', output: null, error: 'no answer', failure, completedAt: null, ...step })
}

/** One of each verb an owner has. */
export const OWNER_VERBS = {
  heartbeat: () => heartbeat(),
  recordStep: (owner) => recordStep(owner, { name: 'another step', index: 7 }),
  complete: () => complete(),
  fail: () => fail(),
  release: () => release(),
  abandon: () => abandon(),
  retryLater: (owner) => retryLater(owner.run.runAt),
  park: (owner) => park([{ name: 'a nap', kind: 'sleep', dueAt: owner.run.runAt }]),
} satisfies Record<OwnerVerb['type'], (owner: Owner) => OwnerVerb>

export const OWNER_VERB_NAMES = Object.keys(OWNER_VERBS) as (keyof typeof OWNER_VERBS)[]

export function logLine({ env }: World, runId: string, line: Partial<LogRow> = {}): LogRow {
  return { id: env.id(), runId, stepName: null, level: 'info', message: 'hello', data: null, timestamp: iso(env.wall()), ...line }
}

export function newSignal({ env }: World, runId: string, signal: Partial<SignalRow> = {}): SignalRow {
  return { id: env.id(), runId, name: 'answer', value: '"yes"', createdAt: iso(env.wall()), ...signal }
}

export function recorded({ env }: World, type: RecordedEvent['type'], payload: RecordedEvent['payload'] = {}): RecordedEvent {
  return { type, payload, createdAt: iso(env.wall()) }
}

/** A full load: two events, a log line, progress, an open stream, an effect that has begun. */
export function attachmentsOf({ world, claim: { runId, generation } }: Owner): Attachments {
  const line = logLine(world, runId)
  return {
    events: [
      recorded(world, 'run:progress', { generation, progress: { current: 1, total: 2 } }),
      recorded(world, 'log:write', { generation, logId: line.id }),
    ],
    logs: [line],
    progress: '{"current":1,"total":2}',
    streams: encodeStreams([{ stepName: 'write', kept: 3, state: '"checkpoint"' }]),
    effects: '["charge"]',
  }
}

/** A run of a job of its own that reached the status by legal moves, and the last one who owned it, if any. */
export async function inStatus(
  world: World,
  status: RunStatus,
  jobName: string,
  run: Partial<NewRun> = {},
  confirmMs?: number,
): Promise<{ id: string; owner: Owner | null }> {
  if (status === 'pending') return { id: (await create(world, { ...run, jobName })).id, owner: null }
  const owner = await held(world, { ...run, jobName }, confirmMs)
  if (status !== 'running') await owner.succeed({ completed: complete, failed: fail, cancelled: abandon }[status]())
  return { id: owner.run.id, owner }
}

export async function get({ store }: World, id: string): Promise<RunRow> {
  const run = await store.runs.get(id)
  ok(run, `run ${id} exists`)
  return run
}

export async function eventTypes({ store }: World, id: string): Promise<string[]> {
  return (await store.events.list(id)).map((event) => event.type)
}

/** All that the store keeps about a run. */
export async function everything({ store }: World, id: string) {
  return {
    run: await store.runs.get(id),
    steps: await store.steps.list(id),
    events: await store.events.list(id),
    logs: await store.logs.list(id),
    signals: await store.signals.list(id),
  }
}

/** Runs `act` and checks that it wrote nothing about the run. */
/** Of the answer to a move, if it has one. */
export function rowOf(answer: { outcome: string; run?: RunRow } | null): RunRow | undefined {
  return answer?.run
}

export async function unchanged<T>(world: World, id: string, act: () => Promise<T>): Promise<T> {
  const before = await everything(world, id)
  const result = await act()
  deepEqual(await everything(world, id), before, 'nothing was written')
  return result
}
