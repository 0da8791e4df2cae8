// @coji/durably/client — reaches runs from anywhere: in the tab that has the instance, or across HTTP. Needs neither the engine nor Kysely.

export type { ClusterState } from '../model/cluster-state.ts'
export type { Duration } from '../model/duration.ts'
export type { Decision } from '../model/effect.ts'
export { DurablyError, type ErrorCode } from '../model/errors.ts'
export type * from '../model/event.ts'
export type { RunLogEvent } from '../model/event.ts'
export type { Failure } from '../model/failure.ts'
export type { Labels } from '../model/labels.ts'
export type { Log, LogLevel } from '../model/log.ts'
export type { PageOptions } from '../model/page-options.ts'
export type { Phase } from '../model/phase.ts'
export type { FailureReason, Progress, Run, RunStatus } from '../model/run.ts'
export type { RunConditions, RunFilter, Time } from '../model/run-filter.ts'
export type { Step, StepStatus } from '../model/step.ts'
export type { WaitingFor } from '../model/waiting-for.ts'
export type { Actor, Cause, ExplainedRun, Explanation, FailedAttempts, Remedy } from '../runs/explain/explanation.ts'
export type { JobHandle } from '../runs/job-handle.ts'
export type { ManyRunsOptions, ManyRunsOutcome } from '../runs/many-runs.ts'
export type { SignalOptions } from '../runs/run-commands.ts'
export type { BatchTriggerInput } from '../runs/trigger.ts'
export type { WatchFilter } from '../runs/watch-runs.ts'
export type { IfVersion } from '../store/runs.ts'
export type {
  AnyJobs,
  ClientTriggerOptions,
  ConnectionState,
  DurablyClient,
  FollowOptions,
  JobInfo,
  JobInput,
  JobName,
  JobOutput,
  Jobs,
} from './durably-client.ts'
export { httpClient } from './http/http-client.ts'
export type { HttpOptions } from './http/http-request.ts'
export { type LocalDurably, localClient } from './local-client.ts'
export { emptyRunView, type RunView, reduceRun, type StreamView } from './run-view.ts'
