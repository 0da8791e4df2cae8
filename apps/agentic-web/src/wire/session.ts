// Sessions and what was said in them.
import type { RunView } from './run.ts'

/** An item of `GET /api/sessions`: the most recently used first. */
export interface SessionSummary {
  session_id: string
  /** Null until somebody names it with PATCH. */
  title: string | null
  /** The beginning of the last message of the user, at most 64 characters; empty without messages. */
  preview: string
  message_count: number
  /** A run of the session is queued or running. */
  is_busy: boolean
  created_at: string
  updated_at: string
}

/** `GET /api/sessions?search=…&limit=100`: `total` is how many there are without the search. */
export interface SessionList {
  sessions: SessionSummary[]
  total: number
}

/** `POST /api/sessions`, the body may be empty: 201. `PATCH /api/sessions/:id` with the same body: 200. `DELETE`: 204, its runs are cancelled. */
export interface SessionChange {
  /** At most 200 characters; null takes it away. */
  title?: string | null
}

/**
 * `GET /api/sessions/:id`, read from one snapshot. 404 `not_found`. `messages` has nothing of the runs in `active_runs`: what these have said
 * comes from their events only, and their message is `input_text`.
 */
export interface SessionView {
  session_id: string
  title: string | null
  created_at: string
  updated_at: string
  messages: Message[]
  /** Queued and running runs, in the order in which they will be answered. Follow the events of each. */
  active_runs: RunView[]
}

/** A message of the user, one answer of the model (a run has several if it uses tools), or the results of tools. */
export interface Message {
  id: string
  run_id: string
  /** The same for everything that one run says and answers. */
  turn: number
  role: 'user' | 'assistant' | 'tool'
  parts: MessagePart[]
  /** The answer was cut off because the run was stopped or failed: show “stopped”. */
  interrupted: boolean
  created_at: string
}

export type MessagePart = TextPart | ReasoningPart | ToolCallPart | ToolResultPart

export interface TextPart {
  type: 'text'
  text: string
}

export interface ReasoningPart {
  type: 'reasoning'
  text: string
}

export interface ToolCallPart {
  type: 'tool_call'
  tool_call_id: string
  tool: string
  args: unknown
}

/** Only in messages of the role `tool`. */
export interface ToolResultPart {
  type: 'tool_result'
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

export interface SandboxViolation {
  /** Such as `time`, `memory` or `outside`. */
  kind: string
  message: string
}

/** `GET /api/artifacts/:id` is the text itself, as a download. */
export interface Artifact {
  id: string
  bytes: number
}

/** `GET /api/sessions/:id/files`. `GET /api/sessions/:id/files/<path>` is the file itself, as a download. */
export interface FileList {
  files: WorkspaceFile[]
  /** Of all files together. */
  bytes: number
  max_bytes: number
}

export interface WorkspaceFile {
  /** Without a leading slash, such as `notes/todo.txt`. */
  path: string
  bytes: number
  updated_at: string
}
