// Explanation — why a run does not go on, who can change that, and how.
import type { Phase } from '../../model/phase.ts'
import type { RunStatus } from '../../model/run.ts'
import type { WaitingFor } from '../../model/waiting-for.ts'

/**
 * Why a run does not go on: what it waits for (see `WaitingFor`), or something else. `unknown job`: it is due, and this process has no job
 * of its name. `lease over`: its worker was lost, and no worker has taken it over yet. `confirming`: its worker is silent and
 * may come back. `assigned`: a leader has chosen its worker, which has not started it. `executing`: a worker executes it. `cancelling`: it was asked to stop and has not yet. `ended`: it is over.
 */
export type Cause = WaitingFor['kind'] | 'unknown job' | 'executing' | 'cancelling' | 'lease over' | 'confirming' | 'assigned' | 'ended'

/**
 * Who can make a run go on: `time` and `worker` do it by themselves. `sender`: whoever sends the signal. `decider`: whoever knows what
 * became of the effect. `operator`: whoever starts workers or retries runs. `reader`: somebody who may read the next run. `nobody`: it is
 * over.
 */
export type Actor = 'time' | 'worker' | 'sender' | 'decider' | 'operator' | 'reader' | 'nobody'

/** What to do so that a run goes on, in a form for programs. */
export type Remedy =
  /** Wait: it goes on by itself, at this time, or as soon as it can if the time is null. */
  | { do: 'wait'; until: string | null }
  /** Send this signal to this run. */
  | { do: 'signal'; runId: string; name: string }
  /** Say with `decide()` what became of this step. */
  | { do: 'decide'; runId: string; step: string }
  /** Start a process that defines this job, and call `start()` in it. */
  | { do: 'start a worker'; jobName: string }
  /** Retry this run: it has failed. */
  | { do: 'retry'; runId: string }
  /** Ask somebody who may read the run that it waits for. */
  | { do: 'ask' }
  /** Nothing helps: the run is over. */
  | { do: 'nothing' }

/** How the earlier attempts of a step or of a job failed. */
export interface FailedAttempts {
  /** How many there were, since the last `retry()`. */
  count: number
  /** The first line of the last error, shortened. */
  error: string
}

/** One run in the chain of an explanation. */
export interface ExplainedRun {
  /** The id of the run. */
  runId: string
  /** The name of its job. */
  jobName: string
  /** Its stored status. */
  status: RunStatus
  /** Its phase: the status, in more detail. */
  phase: Phase
  /** Its version. Pass it as `ifVersion` to act only if the run has not changed since. */
  version: number
  /** Why this run does not go on. */
  cause: Cause
  /** Since when, as ISO-8601 text. */
  since: string
  /** Everything that it waits for. The thing that leads to the next run of the chain comes first. */
  waitingFor: WaitingFor[]
  /** If it waits for the next attempt of a step or of the job: how the earlier ones failed. Otherwise, or if that is not known, null. */
  failedAttempts: FailedAttempts | null
  /** The same as a line or a few of text for people. */
  text: string
}

/** What is the matter with one run, and what helps. */
export interface Diagnosis {
  /** Why the last run of the chain does not go on. */
  cause: Cause
  /** Since when, as ISO-8601 text. */
  since: string
  /** Who can act. */
  actor: Actor
  /** What to do. */
  remedy: Remedy
}

/** What `explain()` returns: why a run does not go on, who can act, and what to do. */
export interface Explanation extends Diagnosis {
  /** The runs from the one that was asked about to the one that everything waits for. */
  chain: ExplainedRun[]
  /** What to do, as a line of text for people, in the words of a program. */
  advice: string
  /** All of it as a few lines of text for people: the text of each run, then the advice. */
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
