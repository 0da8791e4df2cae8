// CrashWorld — one simulated world in which the user's job runs once: undisturbed, or with one fault at one boundary.
// Owns the processes and the passing of time. Does not judge.
//   C1. One worker executes the run; the moment the fault is injected a second one starts, to take over what is lost.
//   C2. The fault is injected once, at the first call that has the boundary's name.
//   C3. A run that waits gets the scripted answer. If none is scripted and no time ends the wait, that is the end of the world, and the reason.
//   C4. Virtual time jumps to what the engine waits for next. While a user's function waits for the real world, it passes like real time.
import { createDurably, type Durably } from '../../durably.ts'
import { ENGINE } from '../../engine.ts'
import { memoryStore } from '../../memory.ts'
import { type Env, sleep, systemEnv } from '../../model/env.ts'
import { isTerminal, type RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import { endsLease, type OwnerWrite, type WriteOutcome } from '../../store/owner-write.ts'
import { type CancelOutcome, type Changed, LEASE_MS_MAX } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import { type History, RowAudit, readRows, StreamAudit, type Violation } from '../invariants/index.ts'
import type { CallFault, Intrusion } from '../simulator/fault-plan.ts'
import { SimProcess } from '../simulator/sim-process.ts'
import type { Answer } from '../simulator/store-line.ts'
import { type VirtualEnv, virtualEnv } from '../virtual-env.ts'
import { Answers, type Script } from './answers.ts'
import { type Boundary, BoundaryNames } from './boundary.ts'
import type { CrashFault } from './crash-fault.ts'
import { inTime, NeverEnded } from './never-ended.ts'
import { type Asked, Witness } from './witness.ts'

/** The part of a job handle that is needed. */
export interface Triggerable<TInput> {
  /** Triggers a run of the job. */
  trigger(input: TInput): Promise<{ id: string }>
}

/** Defines the job on the instance that it is given, and returns its handle. `env` is the virtual clock of that instance. */
export type DefineJob<TInput> = (durably: Durably, env: Env) => Triggerable<TInput> | Promise<Triggerable<TInput>>

export interface CrashWorldOptions {
  define: DefineJob<unknown>
  input: unknown
  seed: number
  openStore: ((env: Env) => Store | Promise<Store>) | undefined
  script: Script
  /** Of real time. */
  timeoutMs: number
  /** Of virtual time. */
  patienceMs?: number
  target?: Target
  /** Steps that are recorded before anything runs. */
  records?: readonly StepRow[]
}

export interface Target {
  boundary: Boundary
  fault: CrashFault
}

/** All that is known when the run has ended. */
export interface Evidence {
  run: RunRow
  history: History
  audit: readonly Violation[]
  asked: readonly Asked[]
  boundaries: readonly Boundary[]
  faultInjected: boolean
  cancelled: (CancelOutcome | Changed)['outcome'] | null
  /** Virtual. */
  tookMs: number
}

const LEASE_MS = 30_000
const MAX_RECOVERIES = 10
/** Enough for another worker to notice, to take over and to be well under way. */
const STOLEN_MS = LEASE_MS * 2
/** Workers know when something falls due, and an answer comes before they look again, so they need not look often, and a year is short. */
const POLLING_MS = LEASE_MS_MAX
/** Long enough for late writes to arrive. */
const AFTERMATH_MS = STOLEN_MS + 5000
/** The engine's own pauses are shorter; only a heartbeat is further away. */
const LEAP_MS = 1000
/** How long to wait for functions of a killed process, so that they do not go on into the next world. */
const GHOSTS_MS_MAX = 100

export class CrashWorld {
  readonly #options: CrashWorldOptions
  readonly #base: VirtualEnv
  readonly #reality = systemEnv()
  readonly #began = this.#reality.mono()
  readonly #witness = new Witness()
  readonly #audit = new RowAudit()
  readonly #streams = new StreamAudit(this.#witness.ledger.streams)
  readonly #boundaries: Boundary[] = []
  readonly #workers: { process: SimProcess; durably: Durably }[] = []
  readonly #answers: Answers
  #outsider: Promise<Durably> | null = null
  #takingOver: Promise<void> = Promise.resolve()
  #answering: Promise<void> = Promise.resolve()
  #store!: Store
  #names: BoundaryNames | null = null
  #runId = ''
  #faultInjected = false
  #allEnded = false
  #whyStuck: string | null = null
  #cancelled: (CancelOutcome | Changed)['outcome'] | null = null
  #broken: { error: unknown } | null = null

  constructor(options: CrashWorldOptions) {
    this.#options = options
    this.#base = virtualEnv({ seed: options.seed })
    this.#answers = new Answers(options.script)
  }

  async run(): Promise<Evidence> {
    const { openStore } = this.#options
    this.#store = openStore ? await inTime('openStore', this.#options, openStore(this.#base)) : memoryStore({ env: this.#base })
    try {
      await inTime('migrate() of the store', this.#options, this.#store.migrate())
      return await this.#live()
    } finally {
      await this.#end()
    }
  }

  async #live(): Promise<Evidence> {
    const { input, records } = this.#options
    const { durably, job } = await this.#open('w1')
    this.#runId = (await this.#soon(job.trigger(input))).id
    const run = await this.#store.runs.get(this.#runId)
    if (!run) throw new Error('crashTest: the job is not the one of the given instance; define it on the instance that is passed in')
    if (records) await this.#record(run, records)
    this.#names = new BoundaryNames(run.id)
    durably.start()
    await this.#untilAllEnded()
    const tookMs = this.#base.mono()
    await this.#base.advance(AFTERMATH_MS)
    return this.#evidence(tookMs)
  }

  /** Ends this world: none of its processes goes on. */
  async #end(): Promise<void> {
    for (const { process } of this.#workers) process.kill()
    const until = this.#reality.mono() + GHOSTS_MS_MAX
    while (this.#witness.hasGhosts && this.#reality.mono() < until) await sleep(this.#reality, 1)
    await this.#store.close()
  }

  async #open(name: string): Promise<{ durably: Durably; job: Triggerable<unknown> }> {
    const process = new SimProcess(name, {
      seed: this.#options.seed,
      base: this.#base,
      store: this.#store,
      plan: { ofCall: (_, verb, args) => this.#faultOf(process, verb, args) },
      leaseMs: LEASE_MS,
      looksLate: true,
      onApplied: (_, verb, answer, args) => this.#applied(verb, answer, args),
      onDeath: ({ name }) => this.#witness.ledger.processDied(name, this.#base.mono()),
    })
    const durably = createDurably({
      store: process.store,
      env: process.env,
      workerId: process.name,
      logger: false,
      pollingInterval: POLLING_MS,
      staleThreshold: LEASE_MS,
      maxRecoveries: MAX_RECOVERIES,
    })
    this.#workers.push({ process, durably })
    const job = await this.#define(this.#witness.over(durably, process), this.#witness.clockOf(process))
    return { durably, job }
  }

  async #define(durably: Durably, env: Env): Promise<Triggerable<unknown>> {
    return inTime('the function that defines the job', this.#options, this.#options.define(durably, env))
  }

  /** An instance that executes nothing: it has the jobs, so that signals are checked as they are where users send them. */
  #openOutsider(): Promise<Durably> {
    const open = async () => {
      const outsider = createDurably({ store: this.#store, env: this.#base, logger: false })
      await this.#define(outsider, this.#base)
      return outsider
    }
    this.#outsider ??= open()
    return this.#outsider
  }

  #faultOf(process: SimProcess, verb: string, args: readonly unknown[]): CallFault | Intrusion | null {
    const boundary = process.name === 'w1' ? this.#names?.of(verb, args) : null
    if (!boundary) return null
    this.#boundaries.push(boundary)
    const { target } = this.#options
    if (!target || this.#faultInjected || boundary.name !== target.boundary.name) return null
    this.#faultInjected = true
    this.#takeOver()
    return this.#fault(target.fault, process, verb)
  }

  #fault(fault: CrashFault, process: SimProcess, verb: string): CallFault | Intrusion {
    switch (fault) {
      case 'crash before':
        return 'crash before'
      case 'crash after commit':
        return 'crash after'
      case 'lost reply':
        return 'lose reply'
      case 'lease stolen':
        return this.#standstill(process, verb)
      case 'cancel':
        return {
          before: async () => {
            this.#cancelled = (await this.#store.runs.cancel(this.#runId))?.outcome ?? null
          },
        }
    }
  }

  /** A claim must have happened before its lease can be stolen; a write comes too late. */
  #standstill(process: SimProcess, verb: string): Intrusion {
    const stop = () => process.pause(STOLEN_MS)
    if (verb === 'runs.claim') return { after: stop }
    return {
      before: () => {
        stop()
        return sleep(this.#base, STOLEN_MS)
      },
    }
  }

  #takeOver(): void {
    this.#takingOver = this.#open('w2').then(({ durably }) => durably.start(), this.#fail)
  }

  #applied(verb: string, answer: Answer, args: readonly unknown[]): void {
    if (verb === 'runs.apply' && 'value' in answer)
      this.#endLeases(args[0] as readonly OwnerWrite[], answer.value as readonly WriteOutcome[])
    // A claim that found nothing made nothing durable.
    if (verb === 'runs.claim' && 'value' in answer && (answer.value as readonly RunRow[]).length === 0) {
      const claim = this.#boundaries.findLastIndex(({ name }) => name.startsWith('claim'))
      if (claim !== -1) this.#boundaries.splice(claim, 1)
    }
    // A poll of an idle worker changes nothing.
    if (verb !== 'runs.probe') this.#lookAtRows().catch(this.#fail)
  }

  async #lookAtRows(): Promise<void> {
    const rows = await readRows(this.#store)
    this.#audit.look(rows.runs, rows.steps, this.#base.wall())
    this.#streams.look(rows)
    this.#allEnded = rows.runs.every((run) => isTerminal(run.status))
    const isKnown = (jobName: string) => this.#workers.some(({ durably }) => durably.jobs.has(jobName))
    this.#whyStuck = this.#answers.whyStuck(rows.runs, this.#base.wall(), isKnown)
    this.#answering = this.#answers.answer(rows.runs, () => this.#openOutsider())
    await this.#answering
  }

  /** The promises of a job function that waits never settle: it is over when its run was put away. */
  #endLeases(writes: readonly OwnerWrite[], outcomes: readonly WriteOutcome[]): void {
    for (const [i, { verb, claim }] of writes.entries())
      if (outcomes[i]?.ok && endsLease(verb)) this.#witness.ledger.leaseEnded(claim.runId, claim.generation, this.#base.mono())
  }

  /** A job function that waits in a lost execution is over when its worker, which executes one at a time, has left it. */
  #endWhatWasLeft(): void {
    const { executions } = this.#witness.ledger
    for (const { process, durably } of this.#workers) {
      const entered = executions.filter((execution) => execution.process === process.name)
      const left = durably[ENGINE].worker.vitals?.busySlots === 0 ? entered : entered.slice(0, -1)
      for (const execution of left) execution.endedAt ??= this.#base.mono()
    }
  }

  readonly #fail = (error: unknown): void => {
    this.#broken = { error }
  }

  async #record(run: RunRow, records: readonly StepRow[]): Promise<void> {
    const token = 'recorder'
    const { runs } = this.#store
    const [claimed] = await runs.claim({ jobNames: [run.jobName], tokens: [token], leaseMs: LEASE_MS })
    if (claimed?.id !== run.id) throw new Error('crashTest: the run cannot be prepared')
    const claim = { runId: run.id, generation: claimed.leaseGeneration, token }
    const rest = { claim, events: [], logs: [], progress: null, streams: null, effects: null }
    for (const [i, record] of records.entries()) {
      const step = { ...record, runId: run.id, leaseGeneration: claim.generation }
      await runs.apply([{ ...rest, number: i + 1, verb: { type: 'recordStep', leaseMs: LEASE_MS, step } }])
    }
    await runs.apply([{ ...rest, number: records.length + 1, verb: { type: 'release' } }])
  }

  /** Lets virtual time pass until `promise`, which waits for the engine only, has settled. */
  async #soon<T>(promise: Promise<T>): Promise<T> {
    let settled = false
    const settle = () => {
      settled = true
    }
    promise.then(settle, settle)
    for (await this.#base.idle(); !settled; ) await this.#letTimePass()
    return promise
  }

  async #untilAllEnded(): Promise<void> {
    for (;;) {
      await this.#base.idle()
      // Definitions may wait for the real world, and no time passes meanwhile.
      await Promise.allSettled([this.#takingOver, this.#answering])
      if (this.#broken) throw this.#broken.error
      this.#endWhatWasLeft()
      if (this.#allEnded && !this.#witness.isWorking) return
      if (this.#whyStuck !== null) throw new NeverEnded(this.#whyStuck)
      await this.#letTimePass()
    }
  }

  /** C4. */
  async #letTimePass(): Promise<void> {
    const { timeoutMs, patienceMs = Number.POSITIVE_INFINITY } = this.#options
    const before = this.#reality.mono()
    if (before - this.#began > timeoutMs)
      throw new NeverEnded(
        `the run did not end within ${timeoutMs} ms: ${this.#witness.inFlight}; if it takes longer, raise the option "timeout"`,
      )
    if (this.#base.mono() > patienceMs) throw new NeverEnded(`the run did not end within ${Math.ceil(patienceMs / 60_000)} virtual minutes`)
    const nextMs = this.#base.nextInMs()
    if (nextMs !== null && (nextMs <= LEAP_MS || !this.#witness.waitsForRealTime)) return this.#base.advance(nextMs)
    await sleep(this.#reality, 1)
    await this.#base.advance(this.#reality.mono() - before)
  }

  async #evidence(tookMs: number): Promise<Evidence> {
    const { executions, effects, streams, acknowledged } = this.#witness.ledger
    const rows = await readRows(this.#store)
    const run = rows.runs.find(({ id }) => id === this.#runId)
    if (!run) throw new Error(`crashTest: run ${this.#runId} was deleted`)
    const history = {
      ...rows,
      acknowledged,
      ledger: { executions, effects, streams },
      maxRecoveries: MAX_RECOVERIES,
      faultFree: !this.#faultInjected && !this.#options.records,
      plans: { steps: this.#witness.plans, jobs: new Map() },
    }
    this.#streams.compare(history)
    return {
      run,
      tookMs,
      audit: [...this.#audit.violations, ...this.#streams.violations],
      asked: this.#witness.asked,
      boundaries: this.#boundaries,
      faultInjected: this.#faultInjected,
      cancelled: this.#cancelled,
      history,
    }
  }
}
