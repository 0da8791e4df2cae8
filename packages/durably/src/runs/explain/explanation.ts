// Explanation — why a run does not go on, who can change that, and how.
import type { Phase } from '../../model/phase.ts'
import type { RunStatus } from '../../model/run.ts'
import type { WaitingFor } from '../../model/waiting-for.ts'

/**
 * What it waits for (`WaitingFor`), or what else is the matter with it. `unknown job`: it is due, and this process has no job of its
 * name. `lease over`: its worker was lost, and nobody has taken it back.
 */
export type Cause = WaitingFor['kind'] | 'unknown job' | 'executing' | 'cancelling' | 'lease over' | 'ended'

/**
 * Who can make it go on: `time` and a `worker` do so by themselves, a `sender` of the signal, a `decider` who knows what became of the
 * effect, an `operator` who starts workers or retries runs, `reader`: somebody who may read the next run. `nobody`: it is over.
 */
export type Actor = 'time' | 'worker' | 'sender' | 'decider' | 'operator' | 'reader' | 'nobody'

export type Remedy =
  /** It goes on by itself: at this time, or as soon as it can. */
  | { do: 'wait'; until: string | null }
  | { do: 'signal'; runId: string; name: string }
  | { do: 'decide'; runId: string; step: string }
  /** Start a process that has this job, and call `start()` in it. */
  | { do: 'start a worker'; jobName: string }
  | { do: 'retry'; runId: string }
  /** Ask somebody who may read the run that it waits for. */
  | { do: 'ask' }
  | { do: 'nothing' }

export interface ExplainedRun {
  runId: string
  jobName: string
  status: RunStatus
  phase: Phase
  /** For `ifVersion`, so that a remedy applies to the run as it was explained. */
  version: number
  cause: Cause
  since: string
  /** Everything it waits for; what the next run of the chain is about comes first. */
  waitingFor: WaitingFor[]
}

/** What is the matter with one run, and what helps. */
export interface Diagnosis {
  cause: Cause
  since: string
  actor: Actor
  remedy: Remedy
}

export interface Explanation extends Diagnosis {
  /** From the run that was asked about, by way of those that it waits for, to the one that everything waits for. */
  chain: ExplainedRun[]
  /** The same in a few lines for people. */
  text: string
}

/** What a process knows of itself. */
export interface ProcessFacts {
  hasJob(jobName: string): boolean
  /** It executes runs now. */
  isWorking: boolean
  freeSlots: number
  slots: number
  /** It executes this run. */
  executes(runId: string): boolean
}
