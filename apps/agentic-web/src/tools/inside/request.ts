// What a worker asks a sandbox for, and what comes back.
import type { FileChange } from '../../db/files.ts'
import type { ShellTask } from '../definitions.ts'

export interface SandboxRequest {
  files: ReadonlyMap<string, Uint8Array>
  task: ShellTask
  timeoutMs: number
}

export interface SandboxAnswer {
  content: string
  isError: boolean
  changes: FileChange[]
  /** Why the sandbox stopped or refused the tool, if it did. */
  violation?: Violation
}

/** A tool met the boundary of its sandbox. */
export interface Violation {
  kind: ViolationKind
  /** One sentence, for people. */
  message: string
}

/**
 * - `time`, `memory`, `output`, `processes`, `disk`: it needed more than it may have.
 * - `workspace`: what it left behind is more than a session may keep.
 * - `outside`: it named a file outside of the workspace.
 * - `system_call`: it asked the operating system for something that no tool needs.
 * - `limit`: another limit of the virtual shell.
 * - `stopped`: it ended without an answer.
 */
export const VIOLATION_KINDS = [
  ...(['time', 'memory', 'output', 'processes', 'disk'] as const),
  ...(['workspace', 'outside', 'system_call', 'limit', 'stopped'] as const),
]
export type ViolationKind = (typeof VIOLATION_KINDS)[number]

export function refusal(kind: ViolationKind, message: string): SandboxAnswer {
  return { content: message, isError: true, changes: [], violation: { kind, message } }
}
