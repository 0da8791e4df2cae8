// Worker — finds runs, has up to `concurrency` of them executed at once, and lets go of them on stop.
// Owns the loop. Does not know what happens inside an execution.
//   K1. While runs are found it claims on; only an empty claim makes it look (one read) and sleep.
//   K2. An infrastructure error never ends the loop and never makes it spin: it is told, then a pause.
//       Only a corrupt database ends it: to write on could do more harm. It can be started again.
//   K3. `stop` claims nothing more and waits for the runs in hand; with a timeout it then asks them to stop,
//       and gives back each run whose function has settled. The others keep their lease until it is over.
//   K4. Where one of several instances executes, only that one claims. Losing the lead is like a stop, but it queues again.
import { backoffMs } from '../../model/backoff.ts'
import { within } from '../../model/env.ts'
import { isBroken } from '../../model/errors.ts'
import { InHand } from '../active-executions.ts'
import type { Execution } from '../execution.ts'
import type { Executor } from '../executor.ts'
import { executorClass } from '../lazy-executor.ts'
import type { WorkerKit } from '../worker-deps.ts'
import { claimRuns } from './claim-runs.ts'
import { Lead } from './leadership-holder.ts'
import { reapInherited, reapLostRuns } from './reap.ts'
import { Retention } from './retention.ts'
import { WakeUp } from './wake-up.ts'

/** How long functions have to notice their aborted signal. */
const ABORT_GRACE_MS = 500

/** Runs in one claim; the next one follows at once. */
const CLAIM_MAX = 100

export class Worker {
  readonly #kit: WorkerKit
  readonly #wakeUp: WakeUp
  readonly #retention: Retention
  readonly #lead: Lead
  readonly #inHand = new InHand()
  /** Null until something is to be executed. */
  #executor: Executor | null = null
  #loop: Promise<void> = Promise.resolve()
  #working = false
  /** Grows with every start and stop: a loop of another shift ends, and the next one begins after it. */
  #shift = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Also a worker that never runs out of work must notice lost runs. */
  #lookAgainAt = Number.NEGATIVE_INFINITY

  constructor(kit: WorkerKit) {
    this.#kit = kit
    this.#wakeUp = new WakeUp(kit.env)
    this.#retention = new Retention({ runs: kit.store.runs, env: kit.env, rules: kit.retention })
    this.#lead = new Lead({
      leadership: kit.leadership,
      takeBack: (term) => reapInherited(kit, term),
      tell: (state) => kit.emitter.emit({ type: 'worker:lead', state, runId: null }),
      onEnd: () => this.#wakeUp.wake(),
    })
  }

  start(): void {
    if (this.#working) return
    this.#working = true
    this.#lead.join()
    const shift = ++this.#shift
    this.#loop = this.#loop.then(() => this.#work(shift)).then(() => this.#rest())
  }

  /** Started, and not waiting for another instance to let go. */
  get isWorking(): boolean {
    return this.#working && this.#lead.isHeld
  }

  /** The caller is a job that this worker executes. */
  get isInsideRun(): boolean {
    const scope = this.#kit.stepScope.current()
    return scope !== undefined && this.#inHand.executions().includes(scope.execution)
  }

  async stop({ timeout }: { timeout?: number } = {}): Promise<void> {
    const { env, leadership, leaseMs } = this.#kit
    const leave = this.#working ? () => this.#lead.leave() : () => {}
    this.#working = false
    this.#shift++
    this.#wakeUp.wake()
    this.#lead.giveUp()
    const ended = this.#ended()
    // It would wait for itself.
    if (this.isInsideRun && timeout === undefined) void ended.finally(leave)
    else if (timeout === undefined || (await within(env, timeout, ended)) || (await this.letGo(ended))) await ended.finally(leave)
    else if (leadership) void within(env, leaseMs, ended).finally(leave)
  }

  /** Asks the runs in hand to stop; true when all did so soon. The others keep their lease, and nobody renews it. */
  async letGo(ended: Promise<unknown>): Promise<boolean> {
    for (const execution of this.#inHand.executions()) execution.interrupt('shutdown', 'the worker is stopping')
    const allEnded = await within(this.#kit.env, ABORT_GRACE_MS, ended)
    for (const execution of this.#inHand.executions()) execution.heartbeat.stop()
    if (!allEnded) this.#executor?.rest()
    return allEnded
  }

  /** Something may have become claimable. */
  wake(): void {
    this.#wakeUp.wake()
  }

  /** The live execution of a run in this process, if it has one. */
  execution(runId: string): Execution | undefined {
    return this.#inHand.find((execution) => execution.run.id === runId && !execution.owner.lost)
  }

  cancelHere(runId: string): void {
    this.execution(runId)?.cancelRequested()
  }

  /** Somebody may have asked a run of this process, or any of them, to stop. */
  lookForCancel(runId?: string): void {
    for (const { run, heartbeat } of this.#inHand.executions()) if (runId === undefined || run.id === runId) heartbeat.beatNow()
  }

  /** Claims and executes one run; false when there is none. */
  async processOne(): Promise<boolean> {
    this.#lead.join()
    try {
      return (await this.#lead.tryNow()) && (await this.#processNext())
    } finally {
      this.#lead.leave()
    }
  }

  async #processNext(): Promise<boolean> {
    await this.#lead.inherit()
    const { due, reaped } = await this.#look()
    if (!due && !reaped) return false
    const executor = this.#executor ?? (await this.#hire())
    const [claimed] = await claimRuns(this.#kit, 1)
    if (claimed) await executor.launch(claimed)
    return claimed !== undefined
  }

  async #work(shift: number): Promise<void> {
    let claimNext = false
    let emptyHanded = false
    let failures = 0
    while (shift === this.#shift) {
      try {
        let now = this.#kit.env.mono()
        if (this.#kit.turn.spent(now)) {
          await this.#kit.turn.breathe()
          now = this.#kit.env.mono()
        }
        if (!this.#lead.isHeld) {
          await this.#takeLead(shift)
          continue
        }
        if (this.#kit.leadership) await this.#lead.inherit()
        if (this.#freeSlots() === 0) {
          if (this.#busyLookAt() <= now) await this.#look()
          failures = 0
          await this.#wakeUp.sleepUntil(this.#busyLookAt())
          claimNext = true
        } else if (claimNext && now < this.#lookAgainAt) {
          const executor = this.#executor ?? (await this.#hire())
          const wanted = this.#freeSlots()
          const claimed = await claimRuns(this.#kit, wanted)
          for (const one of claimed) void executor.launch(one)
          claimNext = claimed.length === wanted
          emptyHanded = claimed.length === 0
          failures = 0
        } else {
          const { due, reaped } = await this.#look()
          claimNext = reaped || (due && !emptyHanded)
          emptyHanded = false
          if (claimNext) continue
          failures = 0
          if (this.#inHand.size === 0) this.#executor?.rest()
          claimNext = await this.#wakeUp.sleepUntil(this.#lookAgainAt)
        }
      } catch (error) {
        this.#kit.report(error)
        if (isBroken(error)) return this.#giveUp(shift)
        await this.#pause(backoffMs(this.#kit.env, ++failures), shift)
      }
    }
  }

  #giveUp(shift: number): void {
    if (shift !== this.#shift) return
    this.#working = false
    this.#lead.leave()
  }

  async #takeLead(shift: number): Promise<void> {
    if (this.#inHand.size > 0) await this.letGo(this.#inHand.ended())
    // Whoever was stopped meanwhile does not queue again.
    if (shift === this.#shift) await this.#lead.wait()
  }

  #freeSlots(): number {
    return this.#kit.jobs.size === 0 ? 0 : Math.min(CLAIM_MAX, this.#kit.concurrency - this.#inHand.size)
  }

  /** Also one that has no slot free, or no job; it can only take them back for others, so it looks less often. */
  #busyLookAt(): number {
    return Math.max(this.#lookAgainAt, this.#lookedAt + this.#kit.heartbeatMs)
  }

  /** One read; what it finds lost is taken back, what ended long ago is removed. */
  async #look(): Promise<{ due: boolean; reaped: boolean }> {
    const { store, env, jobs, pollingMs, heartbeatMs } = this.#kit
    const { due, stale, nextInMs } = await store.runs.probe([...jobs.keys()])
    const isLate = stale && this.#beatLate()
    const reaped = stale && !isLate && (await reapLostRuns(this.#kit)) > 0
    const soonest = isLate ? Math.min(pollingMs, heartbeatMs) : pollingMs
    const sleepMs = Math.min(soonest, nextInMs ?? soonest, await this.#retention.purge())
    this.#lookedAt = env.mono()
    this.#lookAgainAt = this.#lookedAt + sleepMs
    return { due, reaped }
  }

  /** H3. After a pause of the machine the runs in hand go first: who reaps at once would take them from itself. */
  #beatLate(): boolean {
    const late = this.#inHand.executions().filter(({ heartbeat }) => heartbeat.isLate)
    for (const { heartbeat } of late) heartbeat.beatNow()
    return late.length > 0
  }

  /** Before a run is claimed: its lease shall not wait for code. */
  async #hire(): Promise<Executor> {
    const Loaded = await executorClass(this.#kit.env)
    this.#executor ??= new Loaded(this.#kit, this.#inHand, () => this.#freed())
    return this.#executor
  }

  #freed(): void {
    if (this.#working) this.#wakeUp.wake()
    else this.#rest()
  }

  /** No timer is left behind. */
  #rest(): void {
    this.#wakeUp.rest()
    if (this.#inHand.size === 0) this.#executor?.rest()
  }

  async #ended(): Promise<void> {
    await this.#loop
    await this.#inHand.ended()
  }

  /** A pause that new work cannot cut short, but `stop` can. */
  async #pause(ms: number, shift: number): Promise<void> {
    const { env } = this.#kit
    const until = env.mono() + ms
    while (shift === this.#shift && env.mono() < until) await this.#wakeUp.sleepUntil(until)
  }
}
