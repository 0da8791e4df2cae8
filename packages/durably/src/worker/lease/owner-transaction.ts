// Records a step in a transaction of the user, as the owner of the run.
import { backoffMs } from '../../model/backoff.ts'
import { type Env, sleep } from '../../model/env.ts'
import { DurablyError, hasCode, isPassing } from '../../model/errors.ts'
import type { OwnerWrite } from '../../store/owner-write.ts'
import type { Store } from '../../store/store.ts'
import { hasTelemetry } from './attachments.ts'
import type { ExclusiveWriter, Owner, Writing } from './owner.ts'
import { untilLeaseIsOver } from './until-lease-is-over.ts'

interface TransactionDeps {
  store: Store
  env: Env
  leaseMs: number
}

type RecordStep = Extract<Writing, { type: 'recordStep' }>
/** `undone`: what `body` threw; nothing was written. */
export type TransactResult = 'recorded' | 'lost' | { undone: unknown }

/** Transactions that conflict again and again are a mistake in the job, so the step fails with the conflict. */
const CONFLICTS_MAX = 10

/**
 * A transaction that lost a conflict was rolled back and runs again (R6). After an unknown outcome a write with a higher number makes sure
 * that the transaction cannot take effect any more; then either the step is stored, or `verbOf` runs again.
 */
export function recordInTransaction(
  owner: Owner,
  deps: TransactionDeps,
  statementMs: number,
  verbOf: (trx: unknown) => Promise<RecordStep>,
): Promise<TransactResult> {
  return owner.transact((writer) => transact(owner, writer, deps, statementMs, verbOf))
}

async function transact(
  owner: Owner,
  writer: ExclusiveWriter,
  deps: TransactionDeps,
  statementMs: number,
  verbOf: (trx: unknown) => Promise<RecordStep>,
): Promise<TransactResult> {
  const { store, env } = deps
  if (!store.transact) throw new DurablyError('transaction_unsupported', 'ctx.transaction needs a database; this store has none')
  let conflicts = 0
  let leavesTelemetry = false
  for (let attempt = 1; ; attempt++) {
    if (owner.isOver) return 'lost'
    let sent = writer.now()
    let write: OwnerWrite | undefined
    try {
      const outcome = await store.transact(async (trx) => {
        const verb = await verbOf(trx)
        sent = writer.now()
        write = writer.assemble(verb, leavesTelemetry)
        return write
      }, statementMs)
      // Answered, so `write` was assembled above, which TypeScript does not see.
      if (!('undone' in outcome)) return write && writer.settle(write, outcome, sent) ? 'recorded' : 'lost'
      if (write) owner.attachments.putBack(write)
      if (!outcome.inConflict || ++conflicts >= CONFLICTS_MAX) return outcome
      writer.report(outcome.undone)
      if (!(await writer.send({ type: 'heartbeat' }))) return 'lost'
      await sleep(env, backoffMs(env, conflicts))
    } catch (error) {
      if (!isPassing(error)) {
        if (write) owner.attachments.putBack(write)
        if (leavesTelemetry || !write || !hasCode(error, 'store_rejected') || !hasTelemetry(write)) throw error
        // It was undone and runs again. A heartbeat takes the telemetry of the first call, or drops it; that of the second one waits (O4).
        leavesTelemetry = true
        if (!(await writer.send({ type: 'heartbeat' }))) return 'lost'
        continue
      }
      writer.report(error)
      if (!(await writer.send({ type: 'heartbeat' }))) return 'lost'
      if (write && (await isRecorded(owner, writer, deps, write))) {
        writer.execution.accepted(write)
        return 'recorded'
      }
      if (write) owner.attachments.putBack(write)
      if (writer.execution.interrupted) return { undone: error }
      await sleep(env, backoffMs(env, attempt))
    }
  }
}

async function isRecorded(owner: Owner, { report }: ExclusiveWriter, deps: TransactionDeps, { verb, claim }: OwnerWrite): Promise<boolean> {
  if (verb.type !== 'recordStep') return false
  const found = await untilLeaseIsOver({ ...deps, report }, () => deps.store.steps.find(claim.runId, [verb.step.id]))
  if (found === null) owner.loseToSilence()
  return found !== null && found.length > 0
}
