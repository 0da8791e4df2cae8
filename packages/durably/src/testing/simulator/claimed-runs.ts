// ClaimedRuns — the runs that a simulated process has claimed, and what it can know about the store's time since then.
import { DIFFERENCE_MS_MAX, type Moment, momentOf } from '../../model/moment.ts'
import type { RunRow } from '../../model/run.ts'
import type { RunStore } from '../../store/runs.ts'
import type { VirtualEnv } from '../virtual-env.ts'
import type { MachineClock } from './machine-clock.ts'
import { SLOW_LEASES_MAX, STALL_LEASES_MAX } from './store-line.ts'

interface Sent extends Moment {
  /** How long its machine had slept until then. */
  sleptMs: number
  isClockSet: boolean
}

interface Claimed {
  row: RunRow
  /** When the claim was sent, and answered, by the clocks of the process. */
  sent: Sent
  answered: Moment
  /** When it was answered, by the time of the world. */
  answeredAt: number
  /** The difference between the store's clock and that of the world at the answer. */
  jumpedMs: number
}

interface ClaimedRunsDeps {
  base: VirtualEnv
  clock: MachineClock
  storeMs: () => number
  leaseMs: number
}

export class ClaimedRuns {
  readonly #deps: ClaimedRunsDeps
  readonly #claimed = new Map<string, Claimed>()
  #claimSent: Sent = { wall: 0, mono: 0, sleptMs: 0, isClockSet: false }

  constructor(deps: ClaimedRunsDeps) {
    this.#deps = deps
  }

  /** The same verbs, whose claims are remembered here. */
  rememberedFrom(runs: RunStore): RunStore {
    return new Proxy(runs, {
      get: (target, verb) => {
        if (verb === 'claim')
          return async (request: Parameters<RunStore['claim']>[0]) => {
            const { clock } = this.#deps
            const sent = { ...momentOf(clock), sleptMs: clock.sleptMs, isClockSet: clock.isSet }
            this.#claimSent = sent
            return this.#remember(await target.claim(request), sent)
          }
        if (verb === 'adopt') return async (tokens: readonly string[]) => this.#remember(await target.adopt(tokens), this.#claimSent)
        return Reflect.get(target, verb)
      },
    })
  }

  #remember(runs: RunRow[], sent: Sent): RunRow[] {
    const { base, clock } = this.#deps
    const answer = { answered: momentOf(clock), answeredAt: base.mono(), jumpedMs: this.#jumpedMs() }
    for (const row of runs) this.#claimed.set(row.id, { row, sent, ...answer })
    return runs
  }

  /** The generation under which this process last claimed a run. */
  generationOf(runId: string): number {
    return this.#claimed.get(runId)?.row.leaseGeneration ?? 0
  }

  /** When a run first started, by the store's clock. */
  startOf(runId: string): number {
    return this.#claimed.get(runId)?.row.startedAt ?? 0
  }

  /** When the claim of a run was answered, on its own clock. */
  answeredAt(runId: string): number {
    return this.#claimed.get(runId)?.answered.mono ?? 0
  }

  /** The store's clock; if that has jumped since this run was claimed, the time that its owner derives from the claim, if it is earlier. */
  storeNow(runId: string): number {
    return Math.min(this.#storeNowByClaim(runId), this.#deps.storeMs())
  }

  /** The latest time that the owner of this run can take for the store's, also when a clock has jumped. */
  storeNowAtMost(runId: string): number {
    const claimed = this.#claimed.get(runId)
    const byClaim = this.#storeNowByClaim(runId)
    if (!claimed || !this.#mayHaveAsked(claimed)) return byClaim
    // The answer may have taken longer than the answer to the claim, and the store's clock may have jumped since.
    return Math.max(byClaim, this.#deps.storeMs()) + this.#deps.leaseMs
  }

  /** A duration that is counted from now may begin this much later: as long as the question for the store's time may take. */
  askingMsMax(runId: string): number {
    const claimed = this.#claimed.get(runId)
    return claimed && this.#mayHaveAsked(claimed) ? (SLOW_LEASES_MAX + STALL_LEASES_MAX) * this.#deps.leaseMs : 0
  }

  /** When the deadline of a run that it claimed is over, by the time of the world, as long as the store's clock does not jump. */
  deadlineOf(runId: string): number {
    const { base } = this.#deps
    return (this.#claimed.get(runId)?.row.deadlineAt ?? Number.POSITIVE_INFINITY) - (base.wall() - base.mono())
  }

  /** When the deadline is over according to the answer to the claim, by the time of the world; never too early. */
  deadlineByClaim(runId: string): number {
    const claimed = this.#claimed.get(runId)
    if (!claimed || claimed.row.deadlineAt === null) return Number.POSITIVE_INFINITY
    return claimed.answeredAt + claimed.row.deadlineAt - this.#claimedAt(claimed)
  }

  /** Whether the deadline is over by the store's clock. If that has jumped, a process that asked for the time may know the time before. */
  isDeadlineOver(runId: string): boolean {
    const claimed = this.#claimed.get(runId)
    if (!claimed || claimed.row.deadlineAt === null) return false
    const { base, storeMs } = this.#deps
    const hasJumped = claimed.jumpedMs !== this.#jumpedMs()
    return claimed.row.deadlineAt <= Math.max(base.wall(), storeMs()) || (hasJumped && this.#mayHaveAsked(claimed))
  }

  /**
   * Its machine has slept and its wall clock was set back. With a run: since the run was claimed and by as much as the machine slept, so
   * that its clocks agree and none shows that a lease or a deadline is over. Without a run: at any time and by any amount, because a tab
   * that waits for the lead does not compare its clocks.
   */
  hasMisleadingClocks(runId?: string): boolean {
    const { clock } = this.#deps
    const sent = runId === undefined ? { sleptMs: 0, isClockSet: false } : this.#claimed.get(runId)?.sent
    if (!sent || clock.setByMs > 0) return false
    const sleptMs = clock.sleptMs - sent.sleptMs
    const hidesIt = runId === undefined || Math.abs(sleptMs + clock.setByMs) < DIFFERENCE_MS_MAX
    return sleptMs > 0 && hidesIt && clock.isSet && !sent.isClockSet
  }

  #storeNowByClaim(runId: string): number {
    const claimed = this.#claimed.get(runId)
    if (!claimed) return 0
    const { clock } = this.#deps
    const { mono, sleptMs } = claimed.sent
    return this.#claimedAt(claimed) + clock.mono() - mono + clock.sleptMs - sleptMs
  }

  /** Its clocks differ by more than at the claim, so the process may have asked the store for its time. */
  #mayHaveAsked({ sent }: Claimed): boolean {
    const { clock } = this.#deps
    return clock.sleptMs > sent.sleptMs || (clock.isSet && !sent.isClockSet)
  }

  #claimedAt({ row }: Claimed): number {
    return (row.leaseExpiresAt ?? 0) - this.#deps.leaseMs
  }

  #jumpedMs(): number {
    return this.#deps.storeMs() - this.#deps.base.wall()
  }
}
