// Leadership — of several instances that share a database, one executes.
//   E1. Only the leader claims runs.
//   E2. A term `inherits` if it was acquired without stealing: the former leader has released the lead or is dead, so the leases that are left
//       have no owner.
//   E3. Leadership saves work and decides nothing else: the lease decides who owns a run, even if two instances believe that they lead.
import type { Env } from '../model/env.ts'

/**
 * Decides which of several instances executes, where only one should, as among the tabs of a browser. Correctness does not depend on it:
 * leases decide who owns a run.
 */
export interface Leadership {
  /** Waits until this instance leads; null if `signal` aborted first. */
  take(signal: AbortSignal): Promise<Term | null>
  /** Takes the lead if nobody has it; null if somebody else leads. */
  takeIfFree(): Promise<Term | null>
}

/** The time during which one instance leads. */
export interface Term {
  /** Whether nobody else leads, as far as is known now: whoever led before has let go or is gone, so leases that are left have no owner. */
  readonly inherits: boolean
  /** Aborts when the term ends without `release()`: another instance took the lead, or the page is going away. */
  readonly ended: AbortSignal
  /** Gives the lead up. */
  release(): void
}

/** What a store gets to open its `Leadership`. */
export interface LeadershipDeps {
  /** The source of time and random numbers. */
  env: Env
  /** The lease of runs, in milliseconds. */
  leaseMs: number
  /** The prefix of the tables. Instances with different tables do not compete. */
  tablePrefix: string
  /** Called with the reason when no leader does its work, once per outage. */
  report: (error: unknown) => void
}

/** A dialect that knows which instance leads. */
export interface LeadingDialect {
  readonly openLeadership: (deps: LeadershipDeps) => Leadership
}

/** Opens the leadership of a store, which knows the prefix of its tables. */
export type OpenLeadership = (deps: Omit<LeadershipDeps, 'tablePrefix'>) => Leadership
