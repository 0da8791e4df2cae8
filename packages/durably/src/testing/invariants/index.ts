import * as attempts from './attempts.ts'
import * as children from './children.ts'
import * as deadlines from './deadlines.ts'
import * as effects from './effects.ts'
import * as endings from './endings.ts'
import type { History, Invariant, Violation } from './history.ts'
import * as labels from './labels.ts'
import * as ownership from './ownership.ts'
import * as steps from './steps.ts'
import * as streams from './streams.ts'
import * as waits from './waits.ts'

export { DueAudit } from './due-audit.ts'

export {
  type Acknowledged,
  type AnswerNote,
  type Booking,
  type ClaimNote,
  type CreatedNote,
  type Effect,
  type GaveUpNote,
  grouped,
  type History,
  type JobExecution,
  type JobPlan,
  type Ledger,
  type PutAwayNote,
  type RetryAfterNote,
  readRows,
  recordsByStep,
  type SignalNote,
  type StepPlan,
  type StreamAttempt,
  stepKey,
  THE_JOB,
  type Violation,
  type WaitNote,
} from './history.ts'
export { RowAudit } from './row-audit.ts'
export { StreamAudit } from './stream-audit.ts'
export { flat } from './stream-texts.ts'

/** Every invariant that can be read off a finished history; those of single moments are in RowAudit and DueAudit. */
const INVARIANTS: Invariant[] = [ownership, steps, streams, endings, waits, attempts, children, effects, deadlines, labels].flatMap(
  (chapter) => Object.values<Invariant>(chapter),
)

export function checkInvariants(history: History): Violation[] {
  return INVARIANTS.flatMap((invariant) => invariant(history))
}
