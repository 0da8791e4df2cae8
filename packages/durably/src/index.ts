export type { ArchiveFiles } from './archive/archive-files.ts'
export type { ArchiveOption } from './archive/archive-option.ts'
export type { BrowserCapabilities, Capabilities } from './capabilities.ts'
export { emptyRunView, type RunView, reduceRun, type StreamView } from './client/run-view.ts'
export type { Audit, AuditFilter } from './cluster/audit.ts'
export type { Definitions, KnownJob } from './cluster/definitions.ts'
export type { SendOptions, SentEvent } from './cluster/inbox.ts'
export type { ElectedProcess } from './cluster/leader.ts'
export type { RegisteredWorkers, Worker } from './cluster/registered-workers.ts'
export type { SchedulableJob, ScheduleOptions, ScheduleSettings } from './cluster/schedule-options.ts'
export type { Schedules } from './cluster/schedules.ts'
export type { ClusterSettings, SetOptions, Settings, SettingsChange } from './cluster/settings.ts'
export type { UnknownJob } from './cluster/unknown-jobs.ts'
export type { DurablyOptions } from './config.ts'
export { createDurably, type Durably } from './durably.ts'
export type { Listener, ListenerErrorHandler, Unsubscribe } from './events/emitter.ts'
export type { LogLine } from './events/log-line.ts'
export type { Health, StoreHealth, WorkerHealth } from './health.ts'
export type { StartOptions } from './lifecycle.ts'
export type { DurablyLogger } from './logging/logger.ts'
export type { AuditAction, AuditEntry, AuditKind } from './model/audit.ts'
export type { ClusterState } from './model/cluster-state.ts'
export type { Duration } from './model/duration.ts'
export type { Decision } from './model/effect.ts'
export { type Env, type Scope, systemEnv, type TimerHandle } from './model/env.ts'
export { DurablyError, type ErrorCode, type ErrorCodes } from './model/errors.ts'
export type * from './model/event.ts'
export type { RunLogEvent } from './model/event.ts'
export type { Failure } from './model/failure.ts'
export type {
  Checkpoint,
  ChildRunOptions,
  DeclaredJobContext,
  Emit,
  JobContext,
  JobDefinition,
  Logger,
  StepContext,
  StepFunction,
  StepOptions,
  StreamFunction,
  StreamOptions,
  TransactionOptions,
  Triggers,
  WaitForOptions,
} from './model/job.ts'
export type { Labels } from './model/labels.ts'
export type { Log, LogLevel, LogRow } from './model/log.ts'
export type { PageOptions } from './model/page-options.ts'
export type { Phase } from './model/phase.ts'
export type { RetentionOption } from './model/retention.ts'
export { type ExponentialRetry, type FixedRetry, NonRetryableError, type RetryPolicy, retry, retryAfter } from './model/retry-policy.ts'
export type { FailureReason, Progress, Run, RunRow, RunStatus, TerminalStatus } from './model/run.ts'
export type { RunConditions, RunFilter, Time } from './model/run-filter.ts'
export type { Misfire, Overlap, Schedule, ScheduleDefinition, ScheduleRow } from './model/schedule.ts'
export type { SentSignal, SignalRow, Signals } from './model/signal.ts'
export type { Step, StepRow, StepStatus } from './model/step.ts'
export type { ReturnsStorable } from './model/storable.ts'
export type { EventFilter, EventSubscription, On } from './model/subscription.ts'
export type { Register, Transaction } from './model/transaction.ts'
export type { WaitingFor } from './model/waiting-for.ts'
export type { Plugin, PluginHost } from './plugin.ts'
export type { Actor, Cause, ExplainedRun, Explanation, FailedAttempts, Remedy } from './runs/explain/explanation.ts'
export type { JobHandle, WaitOptions } from './runs/job-handle.ts'
export type { ManyRunsOptions, ManyRunsOutcome } from './runs/many-runs.ts'
export type { PurgeOptions, SignalOptions } from './runs/run-commands.ts'
export type { SubscribeOptions, Subscription } from './runs/subscribe.ts'
export type { BatchTriggerInput, TriggerOptions } from './runs/trigger.ts'
export type { TriggerWrapper } from './runs/trigger-wrapper.ts'
export type { RunsSubscription, WatchFilter, WatchOptions } from './runs/watch-runs.ts'
export type { ArchivableRun, ArchiveMove, ArchiveStore, CandidatePage, MoveOutcome } from './store/archive.ts'
export type { Audited, AuditQuery, AuditRow, AuditStore, NewAuditEntry } from './store/cluster/audit.ts'
export type { ActorOption } from './store/cluster/audited.ts'
export type { ClusterStore } from './store/cluster/cluster.ts'
export type { DefinitionQuery, DefinitionRow, DefinitionStore, NewDefinition } from './store/cluster/definitions.ts'
export type {
  Delivery,
  DeliveryOutcome,
  EventQuery,
  EventRun,
  InboxEvent,
  InboxStore,
  NewEvent,
  PutEventOutcome,
} from './store/cluster/inbox.ts'
export type { Leader, LeaderStore, LeadOutcome, LeadRequest } from './store/cluster/leaders.ts'
export type {
  Firing,
  FiringOutcome,
  FoundSchedules,
  NewSchedule,
  ScheduledRun,
  ScheduleOutcome,
  ScheduleQuery,
  ScheduleStore,
  ScheduleSwitch,
  ScheduleTrigger,
  TriggerOutcome,
} from './store/cluster/schedules.ts'
export type { NewSettings, SettingsOutcome, SettingsRow, SettingsStore, SettingsValue } from './store/cluster/settings.ts'
export type { EventPage, EventStore } from './store/events.ts'
export type { Leadership, LeadershipDeps, OpenLeadership, Term } from './store/leadership.ts'
export type { LogStore } from './store/logs.ts'
export type { Change, Notifier, NotifierDeps, NotifyingDialect } from './store/notifier.ts'
export type { Claim, OwnerVerb, OwnerWrite, WriteOutcome } from './store/owner-write.ts'
export type { RowPage } from './store/row-page.ts'
export type {
  CancelOutcome,
  Changed,
  ClaimRequest,
  CommandOptions,
  Created,
  CreateOptions,
  DeleteOutcome,
  DueJobsRequest,
  IfVersion,
  NewRun,
  OldestDue,
  Probe,
  PurgeRequest,
  Reaped,
  ReapRequest,
  RetryOutcome,
  RunCount,
  RunPlace,
  RunQuery,
  RunStore,
  StoppedRun,
  StoreCommand,
} from './store/runs.ts'
export type { SendOutcome, SignalStore } from './store/signals.ts'
export type { StepStore } from './store/steps.ts'
export type { Store, TransactOutcome } from './store/store.ts'
export type { UntilIdleOptions } from './worker/loop/process-until-idle.ts'
export type { RunWrapper } from './worker/run-wrapper.ts'
export type { StepInfo, StepWrapper } from './worker/steps/step-wrapper.ts'
