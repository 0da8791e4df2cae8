// Worker — finds runs, executes up to `concurrency` of them at once, and lets go of them on stop.
// Owns the loop and the slots. Does not know what happens inside an execution.
//   K1. While runs are found it claims on; only an empty claim makes it look (one read) and sleep.
//   K2. An infrastructure error never ends the loop and never makes it spin: it is told, then a pause.
//   K3. `stop` claims nothing more and waits for the runs in hand; with a timeout it then asks them to stop,
//       and gives back each run whose function has settled. The others keep their lease until it is over.
import { backoffMs } from '../model/backoff.ts'
import { within } from '../model/env.ts'
import type { RunRow } from '../model/run.ts'
import { claimRun, readCompletedSteps } from './claim-run.ts'
import { executeRun } from './execute-run.ts'
import { Execution } from './execution.ts'
import type { WorkerKit } from './kit.ts'
import { reapLostRuns } from './reap.ts'
import { WakeUp } from './wake-up.ts'

/** How long `stop({ timeout })` waits for functions to notice their aborted signal. */
const ABORT_GRACE_MS = 500

export class Worker {
  readonly #kit: WorkerKit
  readonly #wakeUp: WakeUp
  readonly #executions = new Set<Execution>()
  readonly #slots = new Set<Promise<void>>()
  #loop: Promise<void> | null = null
  #stopping = false
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(kit: WorkerKit) {
    this.#kit = kit
    this.#wakeUp = new WakeUp(kit.env)
  }

  start(): void {
    this.#stopping = false
    this.#loop ??= this.#work()
  }

  async stop({ timeout }: { timeout?: number } = {}): Promise<void> {
    this.#stopping = true
    this.#wakeUp.wake()
    const ended = this.#ended()
    if (timeout === undefined) return ended
    if (await within(this.#kit.env, timeout, ended)) return
    this.interruptAll()
    if (await within(this.#kit.env, ABORT_GRACE_MS, ended)) return
    for (const execution of this.#executions) execution.heartbeat.stop()
  }

  /** Something may have become claimable. */
  wake(): void {
    this.#wakeUp.wake()
  }

  /** The live execution of a run in this process, if it has one. */
  execution(runId: string): Execution | undefined {
    for (const execution of this.#executions) if (execution.run.id === runId && !execution.owner.lost) return execution
    return undefined
  }

  interruptAll(): void {
    for (const execution of this.#executions) execution.interrupt('shutdown', 'the worker is stopping')
  }

  /** Claims and executes one run; false when there is none. */
  async processOne(): Promise<boolean> {
    const { due, reaped } = await this.#look()
    if (!due && !reaped) return false
    const run = await claimRun(this.#kit)
    if (run) await this.#launch(run)
    return run !== null
  }

  async #work(): Promise<void> {
    let claimNext = false
    let emptyHanded = false
    let failures = 0
    while (!this.#stopping) {
      try {
        if (this.#kit.turn.spent()) await this.#kit.turn.breathe()
        if (!this.#hasFreeSlot()) {
          await this.#wakeUp.sleep(Number.POSITIVE_INFINITY)
          claimNext = true
        } else if (claimNext && !this.#lookIsDue()) {
          const run = await claimRun(this.#kit)
          if (run) void this.#launch(run)
          claimNext = run !== null
          emptyHanded = run === null
        } else {
          const { due, reaped, sleepMs } = await this.#look()
          claimNext = reaped || (due && !emptyHanded) || (await this.#wakeUp.sleep(sleepMs))
          emptyHanded = false
        }
        failures = 0
      } catch (error) {
        this.#kit.report(error)
        await this.#pause(backoffMs(this.#kit.env, ++failures))
      }
    }
    this.#loop = null
  }

  #hasFreeSlot(): boolean {
    return this.#kit.jobs.size > 0 && this.#slots.size < this.#kit.concurrency
  }

  /** Also a worker that never runs out of work must notice lost runs. */
  #lookIsDue(): boolean {
    return this.#kit.env.mono() - this.#lookedAt >= this.#kit.pollingMs
  }

  /** One read; what it finds lost is taken back. */
  async #look(): Promise<{ due: boolean; reaped: boolean; sleepMs: number }> {
    const { store, env, jobs, pollingMs } = this.#kit
    const { due, stale, nextInMs } = await store.runs.probe([...jobs.keys()])
    this.#lookedAt = env.mono()
    if (stale) await reapLostRuns(this.#kit)
    return { due, reaped: stale, sleepMs: Math.min(pollingMs, nextInMs ?? pollingMs) }
  }

  #launch(run: RunRow): Promise<void> {
    const slot = this.#execute(run).finally(() => {
      this.#slots.delete(slot)
      this.#wakeUp.wake()
    })
    this.#slots.add(slot)
    return slot
  }

  async #execute(run: RunRow): Promise<void> {
    const { store, env, turn, jobs, leaseMs, heartbeatMs, report } = this.#kit
    const execution = new Execution({ runs: store.runs, env, turn, run, leaseMs, heartbeatMs, report: (error) => report(error, run.id) })
    this.#executions.add(execution)
    try {
      const job = jobs.get(run.jobName)
      const completedSteps = await readCompletedSteps(this.#kit, run)
      if (job && completedSteps) await executeRun(this.#kit, execution, job, completedSteps)
    } catch (error) {
      report(error, run.id)
    } finally {
      execution.heartbeat.stop()
      this.#executions.delete(execution)
    }
  }

  async #ended(): Promise<void> {
    await this.#loop
    await Promise.all(this.#slots)
  }

  /** A pause that new work cannot cut short, but `stop` can. */
  async #pause(ms: number): Promise<void> {
    const { env } = this.#kit
    const until = env.mono() + ms
    while (!this.#stopping && env.mono() < until) await this.#wakeUp.sleep(until - env.mono())
  }
}
