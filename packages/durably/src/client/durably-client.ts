// DurablyClient — what a page or a program asks of Durably, the same in the tab that runs the jobs and across HTTP.
//   D1. State comes from runs and their event log, never from a connection: a client that was cut off goes on and misses nothing.
//   D2. Values are what the jobs see: Dates, Maps and BigInts arrive as such.

import type { Decision } from '../model/effect.ts'
import type { RunLogEvent } from '../model/event.ts'
import type { Log } from '../model/log.ts'
import type { PageOptions } from '../model/page-options.ts'
import type { Phase } from '../model/phase.ts'
import type { Run } from '../model/run.ts'
import type { RunConditions, RunFilter } from '../model/run-filter.ts'
import type { Step } from '../model/step.ts'
import type { Explanation } from '../runs/explain/explanation.ts'
import type { JobHandle } from '../runs/job-handle.ts'
import type { ManyRunsOptions, ManyRunsOutcome } from '../runs/many-runs.ts'
import type { SignalOptions } from '../runs/run-commands.ts'
import type { BatchTriggerInput, TriggerOptions } from '../runs/trigger.ts'
import type { WatchFilter } from '../runs/watch-runs.ts'
import type { CancelOutcome, IfVersion } from '../store/runs.ts'

/**
 * The jobs of a program: `typeof jobs`, where `export const jobs = { greet, importCsv }`. The keys do not matter; a job is found by its own
 * name.
 */
export type Jobs = { readonly [key: string]: JobHandle<string, never, unknown> }

/** The names of these jobs. */
export type JobName<TJobs extends Jobs> = TJobs[keyof TJobs]['name']
type JobNamed<TJobs extends Jobs, TName> = Extract<TJobs[keyof TJobs], { readonly name: TName }>
/** The input of the job with this name. */
export type JobInput<TJobs extends Jobs, TName> = JobNamed<TJobs, TName> extends JobHandle<string, infer TInput, unknown> ? TInput : never
/** The output of the job with this name. */
export type JobOutput<TJobs extends Jobs, TName> =
  JobNamed<TJobs, TName> extends JobHandle<string, never, infer TOutput> ? TOutput : unknown

/** Jobs whose types are not known: any name, any input. */
export type AnyJobs = { readonly [key: string]: JobHandle<string, unknown, unknown> }

/** The options of `trigger`, without `tx`: a transaction cannot leave the process that began it. */
export type ClientTriggerOptions = Omit<TriggerOptions, 'tx'>

/**
 * Reaches runs from a page or a program, in the same way in the process that has the instance (`localClient`) and over HTTP (`httpClient`).
 * Values arrive as the jobs see them: a `Date` is a `Date`.
 */
export interface DurablyClient<TJobs extends Jobs = AnyJobs> {
  /** Stores a run of this job and returns it. */
  trigger<TName extends JobName<TJobs>>(
    jobName: TName,
    input: JobInput<TJobs, TName>,
    options?: ClientTriggerOptions,
  ): Promise<Run<JobOutput<TJobs, TName>>>
  /** Stores many runs of this job, all of them or none, and returns them in the same order. */
  batchTrigger<TName extends JobName<TJobs>>(
    jobName: TName,
    inputs: readonly BatchTriggerInput<JobInput<TJobs, TName>>[],
  ): Promise<Run<JobOutput<TJobs, TName>>[]>
  /** Reads one run. Null if there is no such run, or if the caller may not read it. */
  getRun(id: string): Promise<Run | null>
  /** Reads the runs that match, newest first, of those that the caller may read. */
  getRuns(filter?: RunFilter): Promise<Run[]>
  /** Says why a run does not go on, following the runs that it waits for as far as the caller may read them. */
  explain(runId: string): Promise<Explanation>
  /** Reads the recorded steps of a run, in the order in which the job called them: all of them, or a page. */
  getSteps(runId: string, options?: PageOptions): Promise<Step[]>
  /** Reads the stored log lines of a run, in the order in which they were written: all of them, or a page. */
  getLogs(runId: string, options?: PageOptions): Promise<Log[]>
  /** Lists the jobs that can be triggered, with the schemas of their inputs. */
  getJobs(): Promise<JobInfo[]>
  /** Counts all runs by phase. */
  countsByPhase(): Promise<Record<Phase, number>>
  /**
   * Cancels a run and the unfinished runs that it has triggered. `cancelled`: it will not start. `requested`: it was asked to stop. `refused`: it had
   * already ended.
   */
  cancel(id: string, options?: IfVersion): Promise<CancelOutcome['outcome']>
  /** Puts a failed run back to `pending`: it continues after its last recorded step. */
  retry(id: string, options?: IfVersion): Promise<Run>
  /** Deletes a run that has ended, with its steps, logs, events and signals. */
  deleteRun(id: string, options?: IfVersion): Promise<void>
  /** Cancels every pending and running run that matches, of those that the caller may read and cancel, the oldest first. */
  cancelRuns(filter: RunConditions, options?: ManyRunsOptions): Promise<ManyRunsOutcome>
  /** Retries every failed run that matches, of those that the caller may read and retry. */
  retryRuns(filter: RunConditions, options?: ManyRunsOptions): Promise<ManyRunsOutcome>
  /** Deletes every run that matches and has ended, of those that the caller may read and delete. */
  deleteRuns(filter: RunConditions, options?: ManyRunsOptions): Promise<ManyRunsOutcome>
  /** Sends a value to a run that waits for it with `ctx.waitFor(name)`, now or later. */
  signal(runId: string, name: string, value: unknown, options?: SignalOptions): Promise<void>
  /** Says what became of a step with `effect: 'once'` whose worker was lost while it ran. */
  decide(runId: string, stepName: string, decision: Decision): Promise<void>
  /**
   * Follows the events of a run, from the first one or from `after`, until the run has ended. It continues after broken connections, and
   * skips no event.
   */
  subscribe(runId: string, options?: FollowOptions & { after?: number }): AsyncIterable<RunLogEvent>
  /**
   * Yields the newest runs that match, at once and again whenever they have changed. It ends when the loop over it is left, or when its
   * signal aborts.
   */
  watchRuns(filter?: WatchFilter, options?: FollowOptions): AsyncIterable<readonly Run[]>
}

/** What a client does, whatever its jobs are. */
export interface UntypedClient extends Omit<DurablyClient, 'trigger' | 'batchTrigger'> {
  trigger(jobName: string, input: unknown, options?: ClientTriggerOptions): Promise<Run>
  batchTrigger(jobName: string, inputs: readonly BatchTriggerInput<unknown>[]): Promise<Run[]>
}

/** A job that can be triggered, as `getJobs` lists it. */
export interface JobInfo {
  /** The name of the job. */
  name: string
  /** The JSON Schema (draft 2020-12) of its input. Null if the schema library cannot produce one. */
  input: Record<string, unknown> | null
}

/** The options of `subscribe` and `watchRuns` of a client. */
export interface FollowOptions {
  /** Ends the subscription: reading it then rejects with the signal's reason. */
  signal?: AbortSignal
  /** Called when the state of the connection changes, so that a page can show it. Nothing else depends on it. */
  onConnection?: (state: ConnectionState) => void
}

/**
 * The state of a connection. `connecting`: there was none yet. `live`: changes arrive. `reconnecting`: it broke and is being restored;
 * nothing will be missing.
 */
export type ConnectionState = 'connecting' | 'live' | 'reconnecting'
