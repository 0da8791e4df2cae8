// Which of all processes performs the duties that exactly one must perform.
//   E1. An epoch belongs to one process. It grows with each change of the leader and never decreases.
//   E2. A lease only decides when another process may lead. Whether a leader's write is accepted is decided by its epoch alone.
//   E3. A lease that ends more than two leases ahead was given before the clock was set back, and is over: what the leader does must not wait
//       until the clock shows that time again. Two, because a request may have read the clock a moment before the leader did.

/** The elected process. */
export interface LeaderStore {
  /**
   * Takes or renews the leadership: granted if nobody leads, if the lease of the leader is over, or if the caller leads already. Only a new
   * leader has a new epoch.
   */
  lead(request: LeadRequest): Promise<LeadOutcome>
  /** Ends the leadership of this epoch, so that another process need not wait for the end of the lease. It does nothing if it is over. */
  resign(epoch: number): Promise<void>
  /** Who leads, or led last; null if nobody ever did. */
  leader(): Promise<Leader | null>
}

/** A process that wants to lead. */
export interface LeadRequest {
  /** The name of the process, for people. */
  workerId: string
  /** By which the process is known, unique for ever: two processes may have the same name. */
  token: string
  /** How long the lease is, in milliseconds, unless the settings say otherwise. */
  leaseMs: number
}

/** The answer of `lead`. */
export interface LeadOutcome {
  /** The epoch of the caller; null if another process leads. */
  epoch: number | null
  /** When the lease of the leader ends, in milliseconds from now; 0 if that is not known. */
  expiresInMs: number
}

/** The process that leads, or led last. */
export interface Leader {
  /** Grows with each change of the leader. */
  epoch: number
  /** The name of the process. */
  workerId: string
  /** When it was elected, in milliseconds since 1970. */
  electedAt: number
  /** When its lease ends, in milliseconds since 1970. */
  expiresAt: number
  /** The same in milliseconds from now; less than 0 if it is over. */
  expiresInMs: number
}
