// Effects (model/effect.ts).
//   E1. The function is called only when its start is stored and the lease is still held after that. If it is not called after all, the
//       effect is closed again (function-step.ts).
//   E2. An execution that finds a start without a record asks `reconcile`, or a person. Each start is asked about separately.
import { decisionName } from '../../model/decision-name.ts'
import { isDecision, NOT_A_DECISION } from '../../model/effect.ts'
import { DurablyError } from '../../model/errors.ts'
import type { StepOptions } from '../../model/job.ts'
import { NonRetryableError } from '../../model/retry-policy.ts'
import { findSignal } from './sent-signals.ts'
import type { StepCall, StepOutcome, StepRunner } from './step-runner.ts'

/** E1. */
export async function beginEffect({ deps: { execution } }: StepRunner, { name }: StepCall): Promise<void> {
  const begin = () => {
    execution.effects.begin(name)
    return () => void execution.effects.delete(name)
  }
  if (!(await execution.owner.write({ type: 'heartbeat' }, begin))) execution.throwIfInterrupted()
  // A process that was suspended until the answer came may have lost the run, and somebody may have decided about the effect by now.
  await execution.assureLease()
}

/** Settles an effect that may have taken place (E2); `null` when it shall run, for the first time or again. */
export async function settleEffect(
  steps: StepRunner,
  call: StepCall,
  { effect, reconcile, timeout }: StepOptions,
): Promise<StepOutcome | null> {
  const { execution, codec } = steps.deps
  const { name } = call
  const startedIn = execution.effects.startedIn(name)
  if (effect !== 'once' || startedIn === undefined) return null
  try {
    // As before any other function: no lease may be over, and no deadline.
    if (reconcile) await execution.assureLease()
    const decision = reconcile
      ? await steps.callFunction(call, async (step) => reconcile(step), { timeout })
      : await decisionOf(steps, decisionName(name, startedIn))
    execution.throwIfInterrupted()
    if (decision === undefined) return { wait: { name: decisionName(name, startedIn), kind: 'signal', dueAt: null } }
    if (!isDecision(decision)) throw new DurablyError('invalid_argument', `step ${JSON.stringify(name)}: ${NOT_A_DECISION}`)
    if (decision === 'run again') return null
    if ('failed' in decision) return await steps.fail(call, new NonRetryableError(String(decision.failed)))
    return await steps.record(call, codec.encode(decision.done, `the result of step ${JSON.stringify(name)}`))
  } catch (error) {
    // While it is not known what became of the effect, it stays open.
    steps.failed.blame(name, error)
    throw error
  }
}

async function decisionOf(steps: StepRunner, name: string): Promise<unknown> {
  const signal = await findSignal(steps, name)
  if (!signal) return undefined
  steps.deps.execution.parking.waits.delete(name)
  return steps.deps.codec.decode(signal.value)
}

/** An effect that took place and could not be recorded must not look like one that failed. */
export function unrecordedEffect(name: string, error: unknown): unknown {
  if (!(error instanceof DurablyError)) return error
  const advice = `effect ${JSON.stringify(name)} took place and is not called again: give the step a reconcile function, or call decide()`
  return new DurablyError(error.code, `${error.message}; ${advice}`, { cause: error })
}
