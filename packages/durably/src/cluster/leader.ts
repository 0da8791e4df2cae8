import { iso } from '../model/env.ts'
import type { LeaderStore } from '../store/cluster/leaders.ts'

/** The process that is elected to fire the schedules. Times are ISO-8601 text, on the clock of the database. */
export interface ElectedProcess {
  /** Grows with each change of the leader. */
  epoch: number
  /** The name of the process: its option `workerId`. */
  workerId: string
  /** When it was elected. */
  electedAt: string
  /** When its lease ends. */
  expiresAt: string
  /** False if its lease is over: it led last, and any process may lead when there is something to do. */
  isLeading: boolean
}

/** Who leads. */
export class Leaders {
  readonly #store: LeaderStore | undefined

  /** Without `cluster`, the store knows no leader. */
  constructor({ cluster }: { cluster: LeaderStore | undefined }) {
    this.#store = cluster
  }

  /** Null if nobody ever led. */
  async elected(): Promise<ElectedProcess | null> {
    const leader = await this.#store?.leader()
    if (!leader) return null
    const { epoch, workerId, electedAt, expiresAt, expiresInMs } = leader
    return { epoch, workerId, electedAt: iso(electedAt), expiresAt: iso(expiresAt), isLeading: expiresInMs > 0 }
  }
}
