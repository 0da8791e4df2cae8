// Worker — finds runs, has up to `concurrency` of them executed at once, and gives them back on stop.
// Owns the loop. Does not know what happens inside an execution.
//   K1. It claims as long as runs are found; only after an empty claim it looks for lost runs (one read) and sleeps.
//   K2. An infrastructure error never ends the loop and never makes it spin: it is reported, and the loop pauses.
//       Only a corrupt database ends the loop, because more writes could do more harm. The worker can be started again.
//   K3. `stop` claims nothing more and waits for the active executions; with a timeout it then asks them to stop,
//       and gives back each run whose function has settled. The others keep their lease until it is over.
//   K4. Where one of several instances executes, only that one claims. Losing the leadership is like a stop, but the worker queues for it again.
//   K5. While runs wait for a slot, the next ones are claimed when a job is done, not when its end is stored. A worker for one run at a time
//       stores the end first, so that its runs follow each other also in the store.
import { backoffMs } from '../../model/backoff.ts'
import { within } from '../../model/env.ts'
import { isBroken } from '../../model/errors.ts'
import { ActiveExecutions } from '../active-executions.ts'
import type { Execution } from '../execution.ts'
import { Executor } from '../executor.ts'
import type { WorkerDeps } from '../worker-deps.ts'
import { workerName } from '../worker-name.ts'
import { type ClaimDeps, claimRuns } from './claim-runs.ts'
import { LeadershipHolder } from './leadership-holder.ts'
import { reapInherited, reapLostRuns } from './reap.ts'
import { WakeUp } from './wake-up.ts'

/** How long functions have to notice their aborted signal. */
const ABORT_GRACE_MS = 500

/** The most runs in one claim; the next claim follows at once. */
const CLAIM_MAX = 100

/** How a worker is, for `health()` and `explain()`. */
export interface WorkerVitals {
  isStarted: boolean
  /** False while another instance leads, and this one waits. */
  isLeading: boolean
  busySlots: number
  /** Those whose function was asked to stop longer than a lease ago, and goes on. */
  stuckSlots: number
  /** When its loop last went round, on the monotonic clock. */
  turnedAt: number
}

export class Worker {
  readonly #deps: ClaimDeps
  readonly #wakeUp: WakeUp
  readonly #leadership: LeadershipHolder
  readonly #active = new ActiveExecutions()
  readonly #executor: Executor
  #loop: Promise<void> = Promise.resolve()
  #working = false
  /** Incremented by every start and stop: a loop ends when the number is no longer its own, and the next one begins after it. */
  #shift = 0
  /** The shift that began with a stop which waits no longer: what is claimed then must stop, too. */
  #letGoIn = Number.NaN
  #lookedAt = Number.NEGATIVE_INFINITY
  #turnedAt = Number.NEGATIVE_INFINITY
  /** When to look for lost runs again, also while there is always work. */
  #lookAgainAt = Number.NEGATIVE_INFINITY
  /** When a duty of the cluster is due, as far as is known: that is looked for also without a free slot. */
  #dutyAt = Number.POSITIVE_INFINITY
  /** When something falls due, as far as is known. */
  #dueAt = Number.NEGATIVE_INFINITY
  /** How many claims in a row found as many runs as they wanted. */
  #fullClaims = 0

  constructor(deps: WorkerDeps) {
    this.#deps = { ...deps, workerId: deps.workerId ?? workerName(deps.env.id()), active: this.#active }
    this.#wakeUp = new WakeUp(deps.env)
    this.#executor = new Executor(deps, this.#active, { onEnding: () => this.#hasBacklog && this.wake(), onFree: () => this.#freed() })
    this.#leadership = new LeadershipHolder({
      leadership: deps.leadership,
      takeBack: (term) => reapInherited(deps, term),
      announce: (state) => deps.emitter.emit({ type: 'worker:lead', state, runId: null }),
      onEnd: () => this.#wakeUp.wake(),
    })
  }

  start(): void {
    if (this.#working) return
    this.#working = true
    this.#leadership.join()
    const shift = ++this.#shift
    this.#turnedAt = this.#deps.env.mono()
    this.#loop = this.#loop.then(() => this.#work(shift)).then(() => this.#rest())
  }

  /** Started, and not waiting for another instance to give up the leadership. */
  get isWorking(): boolean {
    return this.#working && this.#leadership.isHeld
  }

  get vitals(): WorkerVitals {
    return {
      isStarted: this.#working,
      isLeading: this.#leadership.isHeld,
      busySlots: Math.min(this.#deps.concurrency, this.#active.size),
      stuckSlots: this.#active.executions().filter(({ isStuck }) => isStuck).length,
      turnedAt: this.#turnedAt,
    }
  }

  /** The caller is a job that this worker executes. */
  get isInsideRun(): boolean {
    const scope = this.#deps.stepScope.current()
    return scope !== undefined && this.#active.executions().includes(scope.execution)
  }

  async stop({ timeout }: { timeout?: number } = {}): Promise<void> {
    const { env, leadership, leaseMs } = this.#deps
    const leave = this.#working ? () => this.#leadership.leave() : () => {}
    this.#working = false
    this.#shift++
    this.#wakeUp.wake()
    this.#leadership.giveUp()
    const ended = this.#ended()
    // A job that stops its own worker would wait for itself.
    if (this.isInsideRun && timeout === undefined) void ended.finally(leave)
    else if (timeout === undefined || (await within(env, timeout, ended)) || (await this.#letGoForGood(ended))) await ended.finally(leave)
    else if (leadership) void within(env, leaseMs, ended).finally(leave)
  }

  /** Asks the active executions to stop; true when all did so within ABORT_GRACE_MS. The others keep their lease, and nobody renews it. */
  async letGo(ended: Promise<unknown>): Promise<boolean> {
    this.#interruptAll()
    const allEnded = await within(this.#deps.env, ABORT_GRACE_MS, ended)
    for (const execution of this.#active.executions()) execution.heartbeat.stop()
    if (!allEnded) this.#executor.rest()
    return allEnded
  }

  #letGoForGood(ended: Promise<unknown>): Promise<boolean> {
    if (!this.#working) this.#letGoIn = this.#shift
    return this.letGo(ended)
  }

  #interruptAll(): void {
    for (const execution of this.#active.executions()) execution.interrupt('shutdown', 'the worker is stopping')
  }

  /** Something may have become claimable. */
  wake(): void {
    this.#wakeUp.wake()
  }

  executions(): Execution[] {
    return this.#active.executions()
  }

  /** Resolves when all executions that are active now have ended. */
  ended(): Promise<unknown> {
    return this.#active.ended()
  }

  /** The live execution of a run in this process, if it has one. */
  execution(runId: string): Execution | undefined {
    return this.#active.find((execution) => execution.run.id === runId && !execution.owner.isOver)
  }

  cancelHere(runId: string): void {
    this.execution(runId)?.cancelRequested()
  }

  /** Somebody may have asked a run of this process, or any of them, to stop. */
  lookForCancel(runId?: string): void {
    for (const { run, heartbeat } of this.#active.executions()) if (runId === undefined || run.id === runId) heartbeat.beatNow()
  }

  /** Claims and executes one run; false when there is none. */
  async processOne(): Promise<boolean> {
    this.#leadership.join()
    try {
      return (await this.#leadership.tryNow()) && (await this.#processNext())
    } finally {
      await this.#deps.tidying?.settled()
      this.#leadership.leave()
    }
  }

  async #processNext(): Promise<boolean> {
    await this.#leadership.inherit()
    const { due, reaped } = await this.#look()
    if (!due && !reaped) return false
    const [claimed] = await claimRuns(this.#deps, 1)
    if (claimed) await this.#executor.launch(claimed)
    return claimed !== undefined
  }

  async #work(shift: number): Promise<void> {
    let claimNext = false
    let emptyHanded = false
    let failures = 0
    while (shift === this.#shift) {
      try {
        let now = this.#deps.env.mono()
        this.#turnedAt = now
        if (this.#deps.turn.isUsedUp(now)) {
          await this.#deps.turn.yield()
          now = this.#deps.env.mono()
        }
        if (!this.#leadership.isHeld) {
          await this.#takeLead(shift)
          continue
        }
        if (this.#deps.leadership) await this.#leadership.inherit()
        if (this.#freeSlots() === 0) {
          if (this.#busyLookAt() <= now) await this.#look()
          failures = 0
          await this.#wakeUp.sleepUntil(this.#busyLookAt())
          claimNext = true
        } else if (claimNext && now < this.#lookAgainAt) {
          const wanted = this.#freeSlots()
          const claimed = await claimRuns(this.#deps, wanted)
          for (const one of claimed) void this.#executor.launch(one)
          if (this.#letGoIn === this.#shift) this.#interruptAll()
          claimNext = claimed.length === wanted
          this.#fullClaims = claimNext ? this.#fullClaims + 1 : 0
          emptyHanded = claimed.length === 0
          failures = 0
          // What was claimed begins before anything else is looked for.
          if (!claimNext && !emptyHanded) await this.#deps.turn.yield()
        } else {
          const { due, reaped } = await this.#look()
          claimNext = reaped || (due && !emptyHanded)
          emptyHanded = false
          if (claimNext) continue
          failures = 0
          if (this.#active.size === 0) this.#executor.rest()
          claimNext = await this.#wakeUp.sleepUntil(this.#lookAgainAt, this.#dueAt)
        }
      } catch (error) {
        this.#deps.report(error)
        if (isBroken(error)) return this.#giveUp(shift)
        await this.#pause(backoffMs(this.#deps.env, ++failures), shift)
      }
    }
  }

  #giveUp(shift: number): void {
    if (shift !== this.#shift) return
    this.#working = false
    this.#leadership.leave()
  }

  async #takeLead(shift: number): Promise<void> {
    if (this.#active.size > 0) await this.letGo(this.#active.ended())
    // A worker that was stopped meanwhile does not queue again.
    if (shift === this.#shift) await this.#leadership.wait()
  }

  #freeSlots(): number {
    const { jobs, concurrency } = this.#deps
    // If ends cannot be stored, they do not pile up without limit.
    const spare = this.#hasBacklog ? Math.min(this.#active.ending, concurrency - 1) : 0
    return jobs.size === 0 ? 0 : Math.max(0, Math.min(CLAIM_MAX, concurrency - this.#active.size + spare))
  }

  /** Probably more runs wait for a slot (K5). */
  get #hasBacklog(): boolean {
    return this.#fullClaims >= 2
  }

  /** A worker without a free slot, or without jobs, can only take lost runs back for others, so it looks less often. */
  #busyLookAt(): number {
    return Math.min(this.#dutyAt, Math.max(this.#lookAgainAt, this.#lookedAt + this.#deps.heartbeatMs))
  }

  /** Looks for work with one read; performs duties that are due, takes lost runs back, and archives and removes what ended long ago. */
  async #look(): Promise<{ due: boolean; reaped: boolean }> {
    const { store, env, jobNames, tidying, pollingMs, heartbeatMs } = this.#deps
    const publishing = this.#deps.publishJobs()
    if (publishing) await publishing
    const found = await store.runs.probe(jobNames())
    const { due, stale, nextInMs, dutyInMs = Number.POSITIVE_INFINITY, hasEvents = false } = found
    const duty = await this.#deps.perform(this.#deps.workerId, { due, dutyInMs, hasEvents })
    const isLate = stale && this.#beatLate()
    const reaped = stale && !isLate && (await reapLostRuns(this.#deps)) > 0
    const soonest = isLate ? Math.min(pollingMs, heartbeatMs) : pollingMs
    const laterMs = stale ? soonest : Number.POSITIVE_INFINITY
    const dueInMs = Math.min(nextInMs ?? laterMs, laterMs, duty.againInMs, (await tidying?.look(() => this.#working)) ?? laterMs)
    this.#lookedAt = env.mono()
    this.#lookAgainAt = this.#lookedAt + Math.min(soonest, dueInMs)
    this.#dutyAt = this.#lookedAt + duty.againInMs
    this.#dueAt = this.#lookedAt + dueInMs
    return { due: due || duty.isDone, reaped }
  }

  /** After a pause of the machine our own leases are renewed first: reaping at once would take our own runs back. */
  #beatLate(): boolean {
    const late = this.#active.executions().filter(({ heartbeat }) => heartbeat.isLate)
    for (const { heartbeat } of late) heartbeat.beatNow()
    return late.length > 0
  }

  #freed(): void {
    if (this.#working) this.#wakeUp.wake()
    else this.#rest()
  }

  /** Leaves no timer behind. */
  #rest(): void {
    this.#wakeUp.rest()
    if (this.#active.size === 0) this.#executor.rest()
  }

  async #ended(): Promise<void> {
    await this.#loop
    await this.#deps.tidying?.stop()
    await this.#active.ended()
  }

  /** A pause that new work cannot cut short, but `stop` can. */
  async #pause(ms: number, shift: number): Promise<void> {
    const { env } = this.#deps
    const until = env.mono() + ms
    while (shift === this.#shift && env.mono() < until) await this.#wakeUp.sleepUntil(until)
  }
}
