// ClaimedRuns — the runs that a simulated process has claimed, and what it can know about the store's time since then.
// A process whose clocks differ asks the store for its time: by a heartbeat, whose time it reads in the row.
import { DIFFERENCE_MS_MAX, type Moment, momentOf } from '../../model/moment.ts'
import type { RunRow } from '../../model/run.ts'
import type { ClusterStore } from '../../store/cluster/cluster.ts'
import type { OwnerWrite } from '../../store/owner-write.ts'
import type { RunStore } from '../../store/runs.ts'
import type { VirtualEnv } from '../virtual-env.ts'
import type { MachineClock } from './machine-clock.ts'
import { SLOW_LEASES_MAX, STALL_LEASES_MAX } from './store-line.ts'
import { withVerbs } from './with-verbs.ts'

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
  /** When each write of the lease was first sent, by its number. */
  written: Map<number, Sent>
  /** What the store said each time that it was asked for its time. */
  told: Told[]
}

interface Told {
  /** The store's clock when it extended the lease. */
  said: number
  /** When this process had sent that write. */
  sent: Sent
  /** The time that this process took for the store's when it had the answer; never later than what the engine makes of it. */
  answered: number
}

/** From when a duration counts, by the store's clock. Both change when the store is asked for its time. */
export interface Beginning {
  readonly earliest: number
  readonly latest: number
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

  /** The same verbs; what they tell this process about its runs and the time is remembered here. */
  rememberedFrom(runs: RunStore): RunStore {
    return withVerbs(runs, {
      claim: async (request) => {
        const sent = this.#now()
        this.#claimSent = sent
        return this.#remember(await runs.claim(request), sent)
      },
      adopt: async (tokens) => this.#remember(await runs.adopt(tokens), this.#claimSent),
      apply: (writes) => {
        for (const write of writes) this.#writes(write)
        return runs.apply(writes)
      },
      get: async (runId) => this.#told(await runs.get(runId)),
    })
  }

  #now(): Sent {
    const { clock } = this.#deps
    return { sleptMs: clock.sleptMs, isClockSet: clock.isSet, ...momentOf(clock) }
  }

  /** The same for the claims of a worker of the register. */
  rememberedFromCluster(cluster: ClusterStore): ClusterStore {
    const remembered =
      <Request>(claim: (request: Request) => Promise<RunRow[]>) =>
      async (request: Request): Promise<RunRow[]> => {
        const sent = this.#now()
        this.#claimSent = sent
        return this.#remember(await claim(request), sent)
      }
    return withVerbs(cluster, {
      claimAssigned: remembered((request) => cluster.claimAssigned(request)),
      claimOpen: remembered((request) => cluster.claimOpen(request)),
    })
  }

  #remember(runs: RunRow[], sent: Sent): RunRow[] {
    const { base, clock } = this.#deps
    const answer = { answered: momentOf(clock), answeredAt: base.mono(), jumpedMs: this.#jumpedMs() }
    for (const row of runs) this.#claimed.set(row.id, { row, sent, ...answer, written: new Map(), told: [] })
    return runs
  }

  #writes({ claim, number }: OwnerWrite): void {
    const claimed = this.#claimed.get(claim.runId)
    if (claimed && claimed.row.leaseGeneration === claim.generation && !claimed.written.has(number))
      claimed.written.set(number, this.#now())
  }

  #told(row: RunRow | null): RunRow | null {
    const claimed = row === null ? undefined : this.#claimed.get(row.id)
    // The row has the time of the last write that was accepted; a later one may have been sent since.
    const sent = row === null ? undefined : claimed?.written.get(row.leaseWrites)
    if (!row || !claimed || !sent || row.leaseGeneration !== claimed.row.leaseGeneration) return row
    const said = this.#extendedAt(row)
    // A row that is marked, or has no lease any more, does not have the time.
    if (row.leaseExpiresAt !== null && row.continuationState === null)
      claimed.told.push({ said, sent, answered: said + this.#passedSince(sent) })
    return row
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

  /** A duration that a job begins now. Its owner may ask the store for its time first, whose clock may jump before it answers. */
  beginning(runId: string): Beginning {
    const claimed = this.#claimed.get(runId)
    if (!claimed) return { earliest: 0, latest: 0 }
    const { clock, leaseMs, storeMs } = this.#deps
    const now = Math.min(this.#storeNowAsTold(claimed), storeMs())
    const nowAtMost = this.storeNowAtMost(runId)
    const mayAsk = this.#mayHaveAsked(claimed)
    const { sleptMs } = clock
    const before = claimed.told.length
    const answers = () => claimed.told.slice(before).map(({ answered }) => answered)
    return {
      get earliest() {
        return Math.min(now, ...answers())
      },
      get latest() {
        const isExact = !mayAsk && claimed.told.length === before
        // Its machine may sleep while it asks, and then it asks again.
        const askingMs = isExact ? 0 : (SLOW_LEASES_MAX + STALL_LEASES_MAX) * leaseMs + clock.sleptMs - sleptMs
        return Math.max(nowAtMost, ...answers()) + askingMs
      },
    }
  }

  /** The latest time that the owner of this run can take for the store's, also when a clock has jumped. */
  storeNowAtMost(runId: string): number {
    const claimed = this.#claimed.get(runId)
    if (!claimed) return 0
    const asTold = this.#storeNowAsTold(claimed)
    if (!this.#mayHaveAsked(claimed)) return asTold
    // The answer may have taken longer than the answer to the claim, and the store's clock may have jumped since.
    return Math.max(this.#storeNowByClaim(claimed), asTold, this.#deps.storeMs()) + this.#deps.leaseMs
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
    return claimed.answeredAt + claimed.row.deadlineAt - this.#extendedAt(claimed.row)
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

  #storeNowByClaim({ row, sent }: Claimed): number {
    return this.#extendedAt(row) + this.#passedSince(sent)
  }

  /** By the last answer of the store. */
  #storeNowAsTold(claimed: Claimed): number {
    const last = claimed.told.at(-1)
    return last ? last.said + this.#passedSince(last.sent) : this.#storeNowByClaim(claimed)
  }

  #passedSince({ mono, sleptMs }: Sent): number {
    const { clock } = this.#deps
    return clock.mono() - mono + clock.sleptMs - sleptMs
  }

  /** It has asked the store for its time, or may have, because its clocks differ by more than at the claim. */
  #mayHaveAsked({ sent, told }: Claimed): boolean {
    const { clock } = this.#deps
    return told.length > 0 || clock.sleptMs > sent.sleptMs || (clock.isSet && !sent.isClockSet)
  }

  /** When the lease was claimed or last extended, by the store's clock. */
  #extendedAt({ leaseExpiresAt }: RunRow): number {
    return (leaseExpiresAt ?? 0) - this.#deps.leaseMs
  }

  #jumpedMs(): number {
    return this.#deps.storeMs() - this.#deps.base.wall()
  }
}
