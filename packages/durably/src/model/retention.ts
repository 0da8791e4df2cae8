import { type Duration, durationMs } from './duration.ts'
import { DurablyError } from './errors.ts'
import { isTerminal, TERMINAL_STATUSES, type TerminalStatus } from './run.ts'

/** How long runs are kept after they ended: one duration for all, or one for each status. A status that is not named is kept for ever. */
export type RetentionOption = Duration | { [status in TerminalStatus]?: Duration }

export interface RetentionRule {
  statuses: readonly TerminalStatus[]
  olderThanMs: number
}

export function retentionRules(option: RetentionOption | undefined): RetentionRule[] {
  if (option === undefined) return []
  if (typeof option !== 'object' || option === null) return [{ statuses: TERMINAL_STATUSES, olderThanMs: durationMs('retention', option) }]
  return Object.entries(option).map(([status, duration]) => {
    if (!isTerminal(status as TerminalStatus))
      throw new DurablyError('invalid_argument', `retention is for ${TERMINAL_STATUSES.join(', ')}; got ${JSON.stringify(status)}`)
    return { statuses: [status as TerminalStatus], olderThanMs: durationMs(`retention of ${status} runs`, duration) }
  })
}
