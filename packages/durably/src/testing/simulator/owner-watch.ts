// OwnerWatch — I62: how long one process holds its runs. If the store accepts nothing for a lease and `confirmFor`, by its own clocks, it aborts
// their functions; not earlier, and not later unless it was paused meanwhile.
import { hasCode } from '../../model/errors.ts'
import { elapsedMs, type Moment, momentOf } from '../../model/moment.ts'
import type { RunRow } from '../../model/run.ts'
import type { OwnerWrite } from '../../store/owner-write.ts'
import type { RunStore } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import type { JobExecution, Violation } from '../invariants/index.ts'
import type { SimProcess } from './sim-process.ts'
import { withVerbs } from './with-verbs.ts'

/** The engine counts whole milliseconds, and compares two clocks. */
const LATE_MS = 1000

/** From when a lease counts. */
interface Contact {
  /** Not later, by the clocks of the process: a write may have waited for others before it was sent. Null where that is not known here. */
  from: Moment | null
  /** Not earlier, by the time of the world. */
  at: number
}

interface Group {
  sent: Moment
  /** By the time of the world. */
  answeredAt: number
}

export class OwnerWatch {
  readonly violations: Violation[] = []
  readonly #process: SimProcess
  readonly #holdMs: number
  /** The last contact with the store, by lease. */
  readonly #contacts = new Map<string, Contact>()
  /** When each write was first sent: that one may have taken effect. */
  readonly #sent = new Map<string, Contact>()
  /**
   * Groups of writes that have no answer yet, or have just got it: what is sent now may have waited for any of them. Not only for the last
   * one: a run that is given back at once does not go through the queue, and is sent while a slow group holds up the others.
   */
  readonly #groups = new Set<Group>()
  readonly #reported = new Set<JobExecution>()

  constructor(process: SimProcess, confirmMs: number) {
    this.#process = process
    this.#holdMs = process.leaseMs + confirmMs
  }

  over(store: Store): Store {
    const { runs, cluster, transact } = store
    return {
      ...store,
      runs: withVerbs(runs, {
        claim: async (request) => this.#claimed(await runs.claim(request)),
        adopt: async (tokens) => this.#claimed(await runs.adopt(tokens)),
        apply: (writes) => this.#apply(runs, writes),
      }),
      ...(cluster && {
        cluster: withVerbs(cluster, {
          claimAssigned: async (request) => this.#claimed(await cluster.claimAssigned(request)),
          claimOpen: async (request) => this.#claimed(await cluster.claimOpen(request)),
        }),
      }),
      ...(transact && {
        transact: async (body) => {
          const answer = await transact(body)
          for (const lease of this.#contacts.keys()) this.#contacts.set(lease, this.#unknown())
          return answer
        },
      }),
    }
  }

  /** `executions`: those that have not ended, of any process. */
  look(executions: readonly (JobExecution & { process: string })[]): void {
    const { name, now, wokeAt, alive } = this.#process
    if (!alive) return
    for (const execution of executions) {
      if (execution.process !== name || execution.abortedAt !== undefined || this.#reported.has(execution)) continue
      const contact = this.#contacts.get(leaseOf(execution))
      const silentMs = now - Math.max(contact?.at ?? now, wokeAt)
      if (silentMs <= this.#holdMs + LATE_MS) continue
      this.#reported.add(execution)
      this.#broken(execution, `goes on with it after ${silentMs} ms without the store, and may hold it for ${this.#holdMs} ms`)
    }
  }

  /** The signal of an execution was aborted. */
  aborted(execution: JobExecution, reason: unknown): void {
    const from = this.#contacts.get(leaseOf(execution))?.from
    const isSilence = hasCode(reason, 'lease_lost') && (reason as Error).message.includes('did not answer')
    if (!isSilence || !from) return
    const silentMs = elapsedMs(this.#process.env, from)
    if (silentMs < this.#holdMs - 1) this.#broken(execution, `gave it up after ${silentMs} ms, and may hold it for ${this.#holdMs} ms`)
  }

  async #apply(runs: RunStore, writes: readonly OwnerWrite[]): ReturnType<RunStore['apply']> {
    const { now, wokeAt, env } = this.#process
    const contact: Contact = { from: wokeAt < now - 1 ? this.#waitingSince(now) : null, at: now }
    // Writes of a group that was rejected are sent again one after the other, and others wait until all of them are answered.
    const isAgain = writes.some((write) => this.#sent.has(keyOf(write)))
    for (const write of writes) if (!this.#sent.has(keyOf(write))) this.#sent.set(keyOf(write), contact)
    const group: Group = { sent: isAgain ? this.#waitingSince(now) : momentOf(env), answeredAt: Number.POSITIVE_INFINITY }
    this.#groups.add(group)
    try {
      const outcomes = await runs.apply(writes)
      for (const [i, write] of writes.entries())
        if (outcomes[i]?.ok) this.#contacts.set(leaseOf(write.claim), this.#sent.get(keyOf(write)) ?? contact)
      return outcomes
    } catch (error) {
      // The store has answered; what it cannot take is left out.
      if (hasCode(error, 'store_rejected')) for (const { claim } of writes) this.#contacts.set(leaseOf(claim), this.#unknown())
      throw error
    } finally {
      group.answeredAt = this.#process.now
    }
  }

  #waitingSince(now: number): Moment {
    let { mono, wall } = momentOf(this.#process.env)
    for (const group of this.#groups) {
      if (group.answeredAt < now - 1) this.#groups.delete(group)
      else {
        // Each clock by itself: after the wall clock was set, the group that was sent first may have the later wall time.
        mono = Math.min(mono, group.sent.mono)
        wall = Math.min(wall, group.sent.wall)
      }
    }
    return { mono, wall }
  }

  #claimed(rows: RunRow[]): RunRow[] {
    for (const { id, leaseGeneration, confirmMs } of rows) {
      this.#contacts.set(leaseOf({ runId: id, generation: leaseGeneration }), this.#unknown())
      if ((confirmMs ?? 0) !== this.#holdMs - this.#process.leaseMs)
        this.#broken({ runId: id }, `may hold it for ${this.#holdMs} ms, but its claim says ${confirmMs} ms after the lease`)
    }
    return rows
  }

  #unknown(): Contact {
    return { from: null, at: this.#process.now }
  }

  #broken({ runId }: Pick<JobExecution, 'runId'>, what: string): void {
    this.violations.push({ invariant: 'I62', runId, what: `${this.#process.name} ${what}` })
  }
}

function keyOf({ claim, number }: OwnerWrite): string {
  return `${leaseOf(claim)}/${number}`
}

function leaseOf({ runId, generation }: { runId: string; generation: number }): string {
  return `${runId}/${generation}`
}
