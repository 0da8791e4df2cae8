import * as endings from './endings.ts'
import type { History, Invariant, Violation } from './history.ts'
import * as ownership from './ownership.ts'
import * as steps from './steps.ts'
import * as streams from './streams.ts'

export {
  type Acknowledged,
  type Effect,
  type History,
  type JobExecution,
  type Ledger,
  readRows,
  type StreamAttempt,
  type Violation,
} from './history.ts'
export { RowAudit } from './row-audit.ts'
export { StreamAudit } from './stream-audit.ts'
export { flat } from './stream-texts.ts'

/** Every invariant that can be read off a finished history; those of single moments are in RowAudit. */
const INVARIANTS: Invariant[] = [...Object.values(ownership), ...Object.values(steps), ...Object.values(streams), ...Object.values(endings)]

export function checkInvariants(history: History): Violation[] {
  return INVARIANTS.flatMap((invariant) => invariant(history))
}
