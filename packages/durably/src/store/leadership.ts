// Leadership — of several instances that share a database, one executes.
//   E1. Only the leader claims runs.
//   E2. A term `inherits` if it was acquired without stealing: the former leader has released the lead or is dead, so the leases that are left
//       have no owner.
//   E3. Leadership saves work and decides nothing else: the lease decides who owns a run, even if two instances believe that they lead.
import type { Env } from '../model/env.ts'

export interface Leadership {
  /** Waits for its turn; `null` when `signal` was aborted first. */
  take(signal: AbortSignal): Promise<Term | null>
  /** `null` when another instance leads. */
  takeIfFree(): Promise<Term | null>
}

export interface Term {
  /** As far as can be known at the moment. */
  readonly inherits: boolean
  /** Aborted when the term ends before it was released: another instance took the lead, or the page is going away. */
  readonly ended: AbortSignal
  release(): void
}

export interface LeadershipDeps {
  env: Env
  leaseMs: number
  /** Instances with different tables have different leaders. */
  tablePrefix: string
  /** Called with the reason why no leader executes runs, once per outage. */
  report: (error: unknown) => void
}

/** A dialect that knows which instance leads. */
export interface LeadingDialect {
  readonly openLeadership: (deps: LeadershipDeps) => Leadership
}

/** The same for a store, which knows its own tables. */
export type OpenLeadership = (deps: Omit<LeadershipDeps, 'tablePrefix'>) => Leadership
