// Leadership — of several instances that share a database, one executes.
//   E1. Only who leads claims.
//   E2. A term that inherits found nobody else: who led before has let go or is dead, so a lease that is left has no owner.
//   E3. Leading saves work, it does not decide: who owns a run is decided by its lease, also when two believe to lead.
import type { Env } from '../model/env.ts'

export interface Leadership {
  /** Waits for its turn; `null` when `signal` was aborted first. */
  take(signal: AbortSignal): Promise<Term | null>
  /** `null` when somebody else leads. */
  takeIfFree(): Promise<Term | null>
}

export interface Term {
  /** As far as can be known at the moment. */
  readonly inherits: boolean
  /** Aborted when the term is over before it was given back: another one took the lead, or the page is going away. */
  readonly ended: AbortSignal
  release(): void
}

export interface LeadershipDeps {
  env: Env
  leaseMs: number
  /** Instances whose tables are others do not wait for each other. */
  tablePrefix: string
  /** Hears why there is no leader that does its work, once per outage. */
  report: (error: unknown) => void
}

/** A dialect that knows which instance leads. */
export interface LeadingDialect {
  readonly openLeadership: (deps: LeadershipDeps) => Leadership
}

/** A store does, whose tables are known to it. */
export type OpenLeadership = (deps: Omit<LeadershipDeps, 'tablePrefix'>) => Leadership
