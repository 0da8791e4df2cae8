// ToolSandbox — where tools work. A sandbox gets the files of a session and one task, and answers with what came out and which files changed.
// Everything that touches files goes through it; nothing that it returns is trusted further than its own session.
import type { SandboxAnswer, SandboxRequest } from './inside/request.ts'

export interface ToolSandbox {
  readonly name: SandboxName
  /** Throws, with one line that says why, if it cannot keep what it promises here. */
  check(): Promise<void>
  /** Rejects with the reason of `signal` if that aborts; nothing that the tool began is left then. */
  run(request: SandboxRequest, signal: AbortSignal): Promise<SandboxAnswer>
}

/**
 * - `virtual`: an interpreter in a thread of the worker. For one's own machine.
 * - `bubblewrap`: a process that the operating system isolates.
 * - `none`: tools that work on files are not offered.
 */
export type SandboxName = 'virtual' | 'bubblewrap' | 'none'
