// Contender — one system that is measured.
import type { Place } from './place.ts'
import type { Figure, Workload } from './workload.ts'

export interface Contender {
  /** As it stands in the tables. */
  readonly title: string
  /** The packages of bench/peers that it needs; the first one's version is stated. None: it is part of this repository. */
  readonly peers: readonly string[]
  /** Needs a newer Node, which bench/peers has. */
  readonly node?: 'node24'
  /** Where it does not leave durability as the place has it. */
  readonly durability?: string
  /** What it does more or less than Durably in the same row, and how it was set up. */
  readonly differs: string
  /** The part of a row's runs without steps that it is given: less for one that would need minutes to create or to end them. */
  readonly share?: number
  /** It brings a server of its own instead of the row's place. */
  readonly place?: 'redis'
  measure(workload: Workload, place: Place): Promise<Figure>
}

/** What an engine is asked to execute. */
export interface JobShape {
  steps: number
  concurrency: number | 'best'
  /** Called by each step; by each run if it has no steps. */
  tick(): void
}

/** An engine with one job, behind the verbs that the workloads need. The process ends after the measurement, so nothing is closed. */
export interface Engine {
  /** Creates a run; when it returns, the run is stored. */
  enqueue(i: number): Promise<unknown>
  /** Creates runs `0` to `count - 1` by one call. */
  enqueueMany?(count: number): Promise<unknown>
  /** Starts the worker. */
  start(): unknown
  /** How many runs have not ended, according to the store. */
  unfinished(): Promise<number>
}

export type OpenEngine = (place: Place, shape: JobShape) => Promise<Engine>
