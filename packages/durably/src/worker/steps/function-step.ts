// `ctx.run` and `ctx.stream`: call a function of the user and record what it returned.
// An effect is a function that must not run twice, such as a payment: `ctx.run(name, { effect: 'once' }, fn)` (effect-step.ts).
// A run that has to wait is parked: what it waits for is stored, no worker holds the run meanwhile, and then the job is called again (parking.ts).
import { DurablyError } from '../../model/errors.ts'
import type { StepOptions, StreamOptions } from '../../model/job.ts'
import { checkKeys, type KeysOf } from '../../model/known-keys.ts'
import { type OtherSteps, otherStepsFor } from './lazy-steps.ts'
import type { StepBody } from './step-body.ts'
import type { StepCall, StepOutcome, StepRunner } from './step-runner.ts'

const STEP_OPTIONS: KeysOf<StepOptions> = { retry: 1, timeout: 1, effect: 1, reconcile: 1 }
const STREAM_OPTIONS: KeysOf<StreamOptions> = { retry: 1, timeout: 1 }

export async function functionStep(
  steps: StepRunner,
  kind: 'run' | 'stream',
  name: string,
  fn: unknown,
  bodyOf: () => StepBody | Promise<StepBody>,
  options: StepOptions = {},
): Promise<unknown> {
  return steps.step(
    name,
    async (call) => {
      if (typeof fn !== 'function')
        throw new DurablyError('invalid_argument', `step ${JSON.stringify(name)} needs a function as its last argument`)
      checkKeys(`ctx.${kind}`, options, kind === 'run' ? STEP_OPTIONS : STREAM_OPTIONS)
      const { parking } = steps.deps.execution
      // An earlier execution has left a wait, such as the pause before the next attempt, that is not over yet.
      const wait = parking.isOver(name) === false && parking.waits.get(name)
      if (wait) return { wait }
      if (options.effect !== 'once') return execute(steps, call, bodyOf, options)
      const effectCode = await otherStepsFor(steps)
      // If an earlier execution started the effect and recorded no result, this finds out what became of it. Null if the function has to run.
      const settled = await effectCode.settleEffect(steps, call, options)
      return settled ?? execute(steps, call, bodyOf, options, effectCode)
    },
    { mayWait: mayWait(options) },
  )
}

/**
 * A step can wait for its next attempt. An effect of which nobody knows whether it took place waits for a person, who calls `decide`; unless there is
 * a function `reconcile`, which finds that out.
 */
function mayWait({ retry, effect, reconcile }: StepOptions): boolean {
  return retry !== undefined || (effect === 'once' && !reconcile)
}

async function execute(
  steps: StepRunner,
  called: StepCall,
  bodyOf: () => StepBody | Promise<StepBody>,
  { retry, timeout }: StepOptions,
  /** Undefined if the step is no effect. */
  effectCode?: OtherSteps,
): Promise<StepOutcome> {
  const body = await bodyOf()
  await steps.deps.execution.assureLease()
  const call = steps.start(called)
  let hasReturned = false
  // Counted here, because a plugin around the function may not call it, throw itself, or call it again.
  let calls = 0
  let callsWithoutError = 0
  const fn: StepBody['call'] = async (step) => {
    calls++
    callsWithoutError++
    try {
      return await body.call(step)
    } catch (error) {
      callsWithoutError--
      throw error
    }
  }
  try {
    if (effectCode) await effectCode.beginEffect(steps, call)
    const returned = await steps.callFunction(call, fn, { timeout })
    hasReturned = true
    const output = steps.deps.codec.encode(returned, `the result of step ${JSON.stringify(call.name)}`)
    const endsStream = await body.finish()
    return await steps.record(call, output, { endsStream, attach: () => body.attachToRecord() })
  } catch (error) {
    body.giveUp()
    if (effectCode && calls === 0) steps.deps.execution.effects.delete(call.name)
    const reason = hasReturned && effectCode ? effectCode.unrecordedEffect(call.name, error) : error
    return steps.fail(call, reason, { retry, mayHaveTakenPlace: callsWithoutError > 0 })
  }
}
