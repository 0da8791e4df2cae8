// DurablyClient — what a page or a program asks of Durably, the same in the tab that runs the jobs and across HTTP.
//   D1. State comes from runs and their event log, never from a connection: a client that was cut off goes on and misses nothing.
//   D2. Values are what the jobs see: Dates, Maps and BigInts arrive as such.

import type { Decision } from '../model/effect.ts'
import type { RunLogEvent } from '../model/event.ts'
import type { Log } from '../model/log.ts'
import type { Phase } from '../model/phase.ts'
import type { Run } from '../model/run.ts'
import type { RunFilter } from '../model/run-filter.ts'
import type { Step } from '../model/step.ts'
import type { Explanation } from '../runs/explain/explanation.ts'
import type { JobHandle } from '../runs/job-handle.ts'
import type { SignalOptions } from '../runs/run-commands.ts'
import type { BatchTriggerInput, TriggerOptions } from '../runs/trigger.ts'
import type { WatchFilter } from '../runs/watch-runs.ts'
import type { CancelOutcome, IfVersion } from '../store/runs.ts'

/** The jobs of a program, `typeof jobs` where `export const jobs = { greet, importCsv }`; by any key, the job's own name counts. */
export type Jobs = { readonly [key: string]: JobHandle<string, never, unknown> }

export type JobName<TJobs extends Jobs> = TJobs[keyof TJobs]['name']
type JobNamed<TJobs extends Jobs, TName> = Extract<TJobs[keyof TJobs], { readonly name: TName }>
export type JobInput<TJobs extends Jobs, TName> = JobNamed<TJobs, TName> extends JobHandle<string, infer TInput, unknown> ? TInput : never
export type JobOutput<TJobs extends Jobs, TName> =
  JobNamed<TJobs, TName> extends JobHandle<string, never, infer TOutput> ? TOutput : unknown

/** Jobs without known types: any name, any input. */
export type AnyJobs = { readonly [key: string]: JobHandle<string, unknown, unknown> }

/** Without `tx`: a transaction cannot leave the process that began it. */
export type ClientTriggerOptions = Omit<TriggerOptions, 'tx'>

export interface DurablyClient<TJobs extends Jobs = AnyJobs> {
  trigger<TName extends JobName<TJobs>>(
    jobName: TName,
    input: JobInput<TJobs, TName>,
    options?: ClientTriggerOptions,
  ): Promise<Run<JobOutput<TJobs, TName>>>
  /** All of them or none. */
  batchTrigger<TName extends JobName<TJobs>>(
    jobName: TName,
    inputs: readonly BatchTriggerInput<JobInput<TJobs, TName>>[],
  ): Promise<Run<JobOutput<TJobs, TName>>[]>
  getRun(id: string): Promise<Run | null>
  getRuns(filter?: RunFilter): Promise<Run[]>
  /** Why a run does not go on, by way of the runs that it waits for, as far as the caller may read them. */
  explain(runId: string): Promise<Explanation>
  getSteps(runId: string): Promise<Step[]>
  getLogs(runId: string): Promise<Log[]>
  getJobs(): Promise<JobInfo[]>
  countsByPhase(): Promise<Record<Phase, number>>
  cancel(id: string, options?: IfVersion): Promise<CancelOutcome['outcome']>
  retry(id: string, options?: IfVersion): Promise<Run>
  deleteRun(id: string, options?: IfVersion): Promise<void>
  signal(runId: string, name: string, value: unknown, options?: SignalOptions): Promise<void>
  decide(runId: string, stepName: string, decision: Decision): Promise<void>
  /** The events of a run from a place in its log, then live, until the run has ended; it outlasts broken connections. */
  subscribe(runId: string, options?: FollowOptions & { after?: number }): AsyncIterable<RunLogEvent>
  /** The newest runs that match, now and whenever they changed; until it is left or its signal aborts. */
  watchRuns(filter?: WatchFilter, options?: FollowOptions): AsyncIterable<readonly Run[]>
}

/** What a client does, whatever its jobs are. */
export interface UntypedClient extends Omit<DurablyClient, 'trigger' | 'batchTrigger'> {
  trigger(jobName: string, input: unknown, options?: ClientTriggerOptions): Promise<Run>
  batchTrigger(jobName: string, inputs: readonly BatchTriggerInput<unknown>[]): Promise<Run[]>
}

export interface JobInfo {
  name: string
  /** JSON Schema (draft 2020-12) of its input; `null` when its schema library cannot produce one. */
  input: Record<string, unknown> | null
}

export interface FollowOptions {
  signal?: AbortSignal
  /** Called when the state of the connection changes; for a page to show it, nothing depends on it. */
  onConnection?: (state: ConnectionState) => void
}

export type ConnectionState = 'connecting' | 'live' | 'reconnecting'
