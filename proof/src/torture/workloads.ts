// Workloads — what is done while the storm lasts, which processes ask for it, and what must be true of it afterwards. The same storm for each.
import type { Violation } from '../../../packages/durably/dist/testing/invariants/index.js'
import { Client } from './client.ts'
import type { Crew } from './crew.ts'
import { FAULTS, type FaultName, type Faults } from './faults.ts'
import { createBookings } from './outside/bookings.ts'
import { Callers } from './outside/callers.ts'
import { judgeOutside, judgeOutsideSoFar } from './outside/verdict.ts'
import type { Place } from './place.ts'
import { type Evidence, type Judged, judge, judgeSoFar } from './verdict.ts'
import type { WorkerSetup } from './worker.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type StoreName = (typeof STORES)[number]

/** The people around the workers. */
export interface People {
  /** One round, of several at once. */
  act(): Promise<void>
}

export interface PeopleDeps {
  place: Place
  crew: Crew
  faults: Faults
  ledgerFolder: string
  seed: number
}

export interface Workload {
  /** Functions last up to about that. Short enough that many are lost, long enough that a busy machine can keep the others. */
  leaseMs: Record<StoreName, number>
  /** Processes beside the workers that only ask. */
  outsiders: number
  /** Those it is made for. */
  faults: readonly FaultName[]
  prepare(place: Place): Promise<void>
  people(deps: PeopleDeps): People
  /** Once everything has come to rest. */
  judge(evidence: Evidence): Promise<Judged>
  judgeSoFar(evidence: Evidence): Promise<Violation[]>
}

export const WORKLOADS: Record<WorkerSetup['workload'], Workload> = {
  /** Knows the generation of each lease, and so what each function was allowed to do. */
  inside: {
    leaseMs: { sqlite: 300, postgres: 600 },
    outsiders: 0,
    faults: ['kill', 'freeze', 'line', 'server'],
    prepare: async () => {},
    people: (deps) => new Client(deps),
    judge,
    judgeSoFar,
  },
  /** Knows the public API alone, and uses all of it. */
  outside: {
    leaseMs: { sqlite: 1200, postgres: 1500 },
    outsiders: 2,
    faults: FAULTS,
    prepare: createBookings,
    people: (deps) => new Callers(deps),
    judge: judgeOutside,
    judgeSoFar: judgeOutsideSoFar,
  },
}
