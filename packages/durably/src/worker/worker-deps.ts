import type { Emitter } from '../events/emitter.ts'
import type { RunEvents } from '../events/run-events.ts'
import type { Codec } from '../model/codec.ts'
import type { Env, Scope } from '../model/env.ts'
import type { Job } from '../model/job.ts'
import type { RunRow } from '../model/run.ts'
import type { TurnBudget } from '../model/turn-budget.ts'
import type { Leadership } from '../store/leadership.ts'
import type { ClaimRequest } from '../store/runs.ts'
import type { Store } from '../store/store.ts'
import type { RunWrapper } from './run-wrapper.ts'
import type { StepScope, StepWrapper } from './steps/step-wrapper.ts'

/** What is done about runs that ended long ago; see `Tidying` of the archive. */
interface Tidying {
  look(isStarted: () => boolean): Promise<number>
  settled(): Promise<void>
  stop(): Promise<void>
}

/** What the parts of a worker have in common. */
export interface WorkerDeps {
  store: Store
  env: Env
  codec: Codec
  emitter: Emitter
  runEvents: RunEvents
  turn: TurnBudget
  /** By name; only these are claimed. */
  jobs: ReadonlyMap<string, Job>
  stepWrappers: readonly StepWrapper[]
  runWrappers: readonly RunWrapper[]
  stepScope: Scope<StepScope>
  leaseMs: number
  /** How long an owner may be silent after the end of its lease. */
  confirmMs: number
  /** The name of this process, for people; null for one that is made of what is known of the process. */
  workerId: string | null
  heartbeatMs: number
  pollingMs: number
  concurrency: number
  maxRecoveries: number
  /** Null where runs are neither archived nor removed. */
  tidying: Tidying | null
  /** Null where every instance may execute. */
  leadership: Leadership | null
  /** Claims runs, as the cluster lets this worker. */
  claim: (request: ClaimRequest & { workerId: string }) => Promise<RunRow[]>
  /** The jobs that this worker executes. */
  jobNames: () => string[]
  /** Performs the duties that are due, if this process is the one that does. `dutyInMs`: when a schedule is due. `hasEvents`: events wait. */
  perform: (
    workerId: string,
    due: { due: boolean; dutyInMs: number; hasEvents: boolean },
  ) => Promise<{ isDone: boolean; againInMs: number }>
  /** Has the jobs of this process stored for others; undefined if there is nothing to do. */
  publishJobs: () => Promise<void> | undefined
  /** Emits `worker:error`: something that is not the job's fault. */
  report: (error: unknown, runId?: string) => void
}
