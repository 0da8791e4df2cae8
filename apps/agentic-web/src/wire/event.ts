// The events that the browser gets from `GET /api/runs/:run_id/events`, one SSE message each: `event:` is the type, `data:` the JSON of the
// type below, without `type`. They are made of the run's log by a whitelist; nothing else of the log leaves the server.
//
//   V1. Every event may come twice, and applying it twice changes nothing. After a break the server repeats from the last `id:` that the
//       browser saw. One entry of the log can become several events; only the last of them has an `id:`.
//       So a connection has to last for one entry, usually one or two events, to get further.
//   V2. `text`, `reasoning` and `tool_call` say where in the output of their step they stand (`at`). An event replaces whatever the step had
//       at `at` and after it. So the output of a step is a list of parts with positions; a `text` of n UTF-16 units takes n positions, a
//       `reasoning` or `tool_call` takes one. Adjacent texts are one paragraph of text: join them.
//   V3. When a step is complete, the log has its whole output as one entry that begins at 0. A browser that reconnects then gets the
//       whole output again, at 0, and replaces what it had.
//   V4. `done` is the last event, and comes once the run has ended. A stream that ends without `done` was cut off: connect again with
//       `Last-Event-ID`. The state on the page comes from these events and from the run's status, never from the connection.

import type { Artifact, SandboxViolation } from './session.ts'

/** A worker has begun, or continues, to execute the run. It comes again after `run_restart` and after `run_wait`. */
export interface RunStartEvent {
  type: 'run_start'
  worker_id: string | null
  timestamp: string
}

/** The worker is gone and the run waits for another one: `worker_lost` after a crash, `worker_stopped` if it was shut down. */
export interface RunRestartEvent {
  type: 'run_restart'
  reason: 'worker_lost' | 'worker_stopped'
  timestamp: string
}

/** The run waits until a time. `run_start` follows. */
export interface RunWaitEvent {
  type: 'run_wait'
  until: string
  timestamp: string
}

/** Which model answers this run. Comes once, after the first `run_start`. */
export interface RunModelEvent {
  type: 'run_model'
  provider: string
  model: string
  /** The answers are scripted, and no AI gives them. */
  is_demo: boolean
}

/** A step begins: a call of the model, or the work of one tool. Comes again if the step is tried again. */
export interface StepStartEvent {
  type: 'step_start'
  step_id: string
  kind: 'model' | 'tool'
  /** Counts the calls of the model from 1. The tools that a call asked for have the same number. */
  step_number: number
  title: string
  timestamp: string
}

/** Text of the answer (V2). */
export interface TextEvent {
  type: 'text'
  step_id: string
  at: number
  content: string
}

/** The model's reasoning (V2). */
export interface ReasoningEvent {
  type: 'reasoning'
  step_id: string
  at: number
  content: string
}

/** The model asks for a tool (V2). Its work is the step `tool_step_id`, whose `tool_result` follows. */
export interface ToolCallEvent {
  type: 'tool_call'
  step_id: string
  at: number
  tool_call_id: string
  tool_step_id: string
  tool: string
  /** As the model sent them. A text if they are no valid JSON, or if they are too long: then it is their beginning. */
  args: unknown
}

/** An attempt of the step did not finish, and its output after position `to` is no longer valid: drop it. `to` is 0 as a rule. */
export interface StepResetEvent {
  type: 'step_reset'
  step_id: string
  to: number
}

/** The outcome of a tool. Comes right before the `step_complete` of the same step. */
export interface ToolResultEvent {
  type: 'tool_result'
  step_id: string
  tool_call_id: string
  tool: string
  content: string
  is_error: boolean
  /** `content` is only the beginning of what the tool returned. */
  truncated: boolean
  /** The whole of it, if it was truncated. */
  artifact?: Artifact
  /** The tool met the boundary of its sandbox: show a warning. */
  violation?: SandboxViolation
}

/**
 * A tool waits for approval: ask the user, and send the answer with `POST /api/runs/:run_id/approvals/:step_id`. The run waits without a worker until
 * `approval_decision` comes.
 */
export interface ApprovalRequestEvent {
  type: 'approval_request'
  /** The `tool_step_id` of the call. */
  step_id: string
  tool_call_id: string
  tool: string
  /** When the run stops waiting, and takes it as denied. */
  expires_at: string
  timestamp: string
}

/** Somebody decided, or nobody did in time: then `approved` is false and `by` null. The `tool_result` of the step follows in both cases. */
export interface ApprovalDecisionEvent {
  type: 'approval_decision'
  step_id: string
  approved: boolean
  by: string | null
  timestamp: string
}

/** A step is recorded, and will not be repeated. */
export interface StepCompleteEvent {
  type: 'step_complete'
  step_id: string
  duration_ms: number
  /** Of a call of the model whose server counted them. */
  usage?: Usage
  timestamp: string
}

/**
 * An attempt of a call of the model failed, and another one follows, as a step of its own (`step_start` with another `step_id` and the same
 * `step_number`). A `step_reset` of the failed step comes right before it: what the step had said is not part of the answer.
 */
export interface RetryEvent {
  type: 'retry'
  step_id: string
  message: string
  /** When the next attempt begins, at the earliest. */
  until: string
  timestamp: string
}

/** The whole text of the last call of the model, however long. Comes right before `done` if the run has completed. */
export interface FinalEvent {
  type: 'final'
  content: string
}

/** Why the run failed. Comes right before `done`. */
export interface ErrorEvent {
  type: 'error'
  code: RunErrorCode
  message: string
}

/** The run has ended. The last event. */
export interface DoneEvent {
  type: 'done'
  status: 'completed' | 'failed' | 'cancelled'
  timestamp: string
}

export type AgentEvent =
  | RunStartEvent
  | RunRestartEvent
  | RunWaitEvent
  | RunModelEvent
  | StepStartEvent
  | TextEvent
  | ReasoningEvent
  | ToolCallEvent
  | StepResetEvent
  | ToolResultEvent
  | ApprovalRequestEvent
  | ApprovalDecisionEvent
  | StepCompleteEvent
  | RetryEvent
  | FinalEvent
  | ErrorEvent
  | DoneEvent

export interface Usage {
  input_tokens: number
  output_tokens: number
}

/**
 * - `bad_key`: the model's server refused the key. Change it in the settings.
 * - `model_not_found`: the model's server does not know the model.
 * - `context_too_long`: the conversation no longer fits the model. Begin a new session.
 * - `model_error`: the model's server failed or sent something that is no answer, also after all retries.
 * - `model_stalled`: the model's server sent nothing for too long, also after all retries.
 * - `secret_unreadable`: the stored key cannot be opened on this server. Enter it again in the settings.
 * - `auth_expired`: the connection to another service has ended. Connect again in the settings.
 * - `too_many_steps`: the model asked for tools again and again.
 * - `answer_too_long`: one answer of the model is larger than the limit.
 * - `timeout`: the run took longer than its limit.
 * - `worker_lost`: the run lost its worker too often.
 * - `tool_in_doubt`: the worker was lost while a tool acted on the world. It was not repeated; somebody has to look.
 * - `session_deleted`: the session was deleted while the run waited or worked.
 * - `internal`: anything else.
 */
export type RunErrorCode =
  | 'bad_key'
  | 'model_not_found'
  | 'context_too_long'
  | 'model_error'
  | 'model_stalled'
  | 'secret_unreadable'
  | 'auth_expired'
  | 'too_many_steps'
  | 'answer_too_long'
  | 'timeout'
  | 'worker_lost'
  | 'tool_in_doubt'
  | 'session_deleted'
  | 'internal'
