import type { SignalRow } from '../model/signal.ts'

export interface SignalStore {
  /** Keeps a value for a run; the first under a name wins. `null` when there is no such run. */
  send(signal: SignalRow): Promise<SendOutcome | null>
  /** Everything that was sent to a run, by `createdAt`, then by name. */
  list(runId: string): Promise<SignalRow[]>
}

/** `accepted`: kept, now or when it was sent before. `taken`: there is another one. `ended`: nobody will wait for it. */
export type SendOutcome = 'accepted' | 'taken' | 'ended'
