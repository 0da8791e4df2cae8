// World — one sequence of commands: the model, who claimed what, what was sent, and the comparison with the store.
// Knows no kind of store and no test runner.
//   D1. Every id is made here and every choice depends on the model alone: the same commands ask the same of every store.
import { iso } from '../../src/model/env.ts'
import type { EventRow, RecordedPayload } from '../../src/model/event.ts'
import type { LogRow } from '../../src/model/log.ts'
import type { RunRow, RunStatus } from '../../src/model/run.ts'
import type { SignalRow } from '../../src/model/signal.ts'
import type { StepRow } from '../../src/model/step.ts'
import type { Claim, OwnerWrite } from '../../src/store/owner-write.ts'
import type { NewRun } from '../../src/store/runs.ts'
import type { Store } from '../../src/store/store.ts'
import { deepEqual } from '../../src/testing/assert.ts'
import type { VirtualEnv } from '../../src/testing/virtual-env.ts'
import type { Matrix } from './matrix.ts'
import { find, list, type Model, type ModelEvent, type ModelRun } from './model.ts'

export const START_MS = Date.UTC(2025, 0, 1)
export const LEASE_MS = 1000

/** Commands choose by a number from 0 to this one, which means something that is not there. */
export const UNKNOWN = 9

/** Someone who claimed a run, perhaps long ago. */
export interface Owner {
  claim: Claim
  /** Of the last write. */
  number: number
}

export class World {
  readonly env: VirtualEnv
  readonly matrix: Matrix
  readonly model: Model
  readonly owners: Owner[] = []
  /** Sent before, to be sent again. */
  readonly batches: NewRun[][] = []
  readonly claims: string[][] = []
  readonly writes: OwnerWrite[] = []
  readonly lines: LogRow[] = []
  readonly signals: SignalRow[] = []
  /** What was asked and what the answer should be. */
  readonly story: { asked: string; expected?: unknown }[] = []
  readonly #lookEvery: number
  #made = 0
  readonly #eventsSeen = new Map<string, number>()
  readonly #startedAt: number

  /** `lookEvery`: after how many verbs the runs that the last one touched are read; all are read in the end. */
  constructor(env: VirtualEnv, matrix: Matrix, lookEvery: number) {
    this.env = env
    this.matrix = matrix
    this.#lookEvery = lookEvery
    this.#startedAt = env.mono()
    this.model = { now: () => env.wall(), runs: [] }
  }

  id(kind: string): string {
    this.#made += 1
    return `${kind}-${String(this.#made).padStart(3, '0')}`
  }

  at(): string {
    return iso(this.env.wall())
  }

  /** A run that was created some time, the last ones first: it may be deleted by now, or was never there. */
  runId(n: number): string {
    const ids = this.batches.flat().map((run) => run.id)
    return n === UNKNOWN || ids.length === 0 ? 'run-unknown' : nthFromEnd(ids, n)
  }

  /** The same, but one in this status, where there is one. */
  runIdIn(status: RunStatus, n: number): string {
    const fitting = this.model.runs.filter(({ row }) => row.status === status)
    return n === UNKNOWN || fitting.length === 0 ? this.runId(n) : nthFromEnd(fitting, n).row.id
  }

  token(n: number): string {
    return n === UNKNOWN || this.owners.length === 0 ? 'token-unknown' : nthFromEnd(this.owners, n).claim.token
  }

  /** The tokens of a claim that was sent before. */
  tokens(n: number): string[] {
    return n === UNKNOWN || this.claims.length === 0 ? ['token-unknown'] : nthFromEnd(this.claims, n)
  }

  /** The wall clock goes wrong by so much, or is put right again. */
  skew(ms: number): void {
    this.env.set(START_MS + this.env.mono() - this.#startedAt + ms)
  }

  /** What a verb did: the same answer, and the same rows of every run it touched. */
  async same<T>(store: Store, asked: string, answer: Promise<T>, expected: T, touched: readonly string[]): Promise<void> {
    this.story.push({ asked, expected })
    compare(await answer, expected, asked)
    if (this.story.length % this.#lookEvery !== 0) return
    for (const id of new Set(touched)) await this.#sameRun(store, id, `${id} after ${asked}`)
  }

  /** What is new. Steps and lines are read where there should be some; the rest, and that there is no more, is seen in the end. */
  async #sameRun(store: Store, id: string, what: string): Promise<void> {
    const { run, events, steps, logs, signals } = modelled(find(this.model, id))
    compare(await store.runs.get(id), run, what)
    const after = this.#eventsSeen.get(id) ?? 0
    this.#eventsSeen.set(id, run?.lastEventSequence ?? 0)
    const fresh = events.filter(({ seq }) => seq > after)
    compare(await toldOf(store, id, after), fresh, `events of ${what}`)
    if (steps.length > 0) compare(await store.steps.list(id), steps, `steps of ${what}`)
    if (logs.length > 0) compare(await store.logs.list(id), logs, `log lines of ${what}`)
    if (signals.length > 0) compare(await store.signals.list(id), signals, `signals of ${what}`)
  }

  /** Every run, touched or not, and nothing of those that were deleted. */
  async sameInTheEnd(store: Store): Promise<Everything[]> {
    const rows = await store.runs.list({})
    compare(rows, list(this.model, {}), 'all runs in the end')
    const kept: Everything[] = []
    for (const id of new Set(this.batches.flat().map((run) => run.id))) {
      const run = rows.find((row) => row.id === id) ?? null
      const steps = await store.steps.list(id)
      const actual = { run, steps, events: await toldOf(store, id), logs: await store.logs.list(id), signals: await store.signals.list(id) }
      const expected = modelled(find(this.model, id))
      compare(actual, expected, `${id} in the end`)
      kept.push(actual)
    }
    return kept
  }
}

/** All that is kept about a run. */
export interface Everything {
  run: RunRow | null
  steps: StepRow[]
  events: ModelEvent[]
  logs: LogRow[]
  signals: SignalRow[]
}

async function toldOf(store: Store, id: string, after = 0): Promise<ModelEvent[]> {
  return (await store.events.list(id, { after })).map(plainEvent)
}

function modelled(run: ModelRun | undefined): Everything {
  if (!run) return { run: null, steps: [], events: [], logs: [], signals: [] }
  const signals = run.signals.toSorted((a, b) => (a.createdAt + a.name < b.createdAt + b.name ? -1 : 1))
  return { run: run.row, steps: run.steps.toSorted((a, b) => a.index - b.index), events: run.events, logs: run.logs, signals }
}

/** The text of a payload is the database's matter, its value is not. */
export function plainEvent({ seq, type, payload, createdAt }: EventRow): ModelEvent {
  return { seq, type, payload: JSON.parse(payload) as RecordedPayload, createdAt }
}

export function nthFromEnd<T>(items: readonly T[], n: number): T {
  const item = items[items.length - 1 - (n % items.length)]
  if (item === undefined) throw new RangeError('there is nothing to choose from')
  return item
}

/** Equal texts are the rule, and finding them equal is cheap. */
function compare(actual: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) deepEqual(actual, expected, what)
}
