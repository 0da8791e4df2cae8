import type { RunErrorCode } from './wire/event.ts'

/** Ends a run as failed, with a reason that the page shows. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: RunErrorCode

  constructor(code: RunErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
