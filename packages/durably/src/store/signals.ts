import type { SignalRow } from '../model/signal.ts'
import type { Audited } from './cluster/audit.ts'

/** The signals of runs. */
export interface SignalStore {
  /** Stores a value for a run; the first one under a name counts. Null if there is no such run. */
  send(signal: SignalRow, options?: Audited): Promise<SendOutcome | null>
  /** All signals that were sent to a run, by `createdAt`, then by name. */
  list(runId: string): Promise<SignalRow[]>
}

/**
 * `accepted`: it is stored, now or because it was sent before. `taken`: the run has another signal of this name. `ended`: the run has
 * ended.
 */
export type SendOutcome = 'accepted' | 'taken' | 'ended'
