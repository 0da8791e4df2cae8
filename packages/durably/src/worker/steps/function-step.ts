// `ctx.run` and `ctx.stream`: call a function of the user and record what it returned. The function of `ctx.stream` also emits chunks while it
// runs, which are stored as events; its record replaces them (`endsStream`).
// An effect is a function that must not run twice, such as a payment: `ctx.run(name, { effect: 'once' }, fn)` (effect-step.ts).
// A run that has to wait is parked: what it waits for is stored, no worker holds the run meanwhile, and then the job is called again (parking.ts).
import { DurablyError } from '../../model/errors.ts'
import type { StepContext, StepOptions, StreamOptions } from '../../model/job.ts'
import { checkKeys, type KeysOf } from '../../model/known-keys.ts'
import { type OtherSteps, otherStepsFor } from './lazy-steps.ts'
import type { StepBody } from './step-body.ts'
import type { StepCall, StepOutcome, StepRunner } from './step-runner.ts'

const STEP_OPTIONS: KeysOf<StepOptions> = { retry: 1, timeout: 1, effect: 1, reconcile: 1 }
const STREAM_OPTIONS: KeysOf<StreamOptions> = { retry: 1, timeout: 1 }

export function functionStep(
  steps: StepRunner,
  kind: 'run' | 'stream',
  name: string,
  /** What the job passed as its function; it may be anything where types are not checked. */
  fn: unknown,
  bodyOf: () => StepBody | Promise<StepBody>,
  options: StepOptions = {},
): Promise<unknown> {
  return steps.step(
    name,
    (call) => {
      if (typeof fn !== 'function')
        throw new DurablyError('invalid_argument', `step ${JSON.stringify(name)} needs a function as its last argument`)
      checkKeys(`ctx.${kind}`, options, kind === 'run' ? STEP_OPTIONS : STREAM_OPTIONS)
      const { parking } = steps.deps.execution
      // False: an earlier execution has left a wait, such as the pause before the next attempt, that is not over yet. Undefined: there is none.
      const wait = parking.isOver(name) === false && parking.waits.get(name)
      if (wait) return Promise.resolve({ wait })
      if (options.effect !== 'once') return execute(steps, call, bodyOf, options)
      return otherStepsFor(steps).then(
        async (effectCode) =>
          // If an earlier execution started the effect and recorded no result, this finds out what became of it. Null if the function has to run.
          (await effectCode.settleEffect(steps, call, options)) ?? execute(steps, call, bodyOf, options, effectCode),
      )
    },
    { mayWait: mayWait(options) },
  )
}

/**
 * A step that may wait cannot be called inside another one (`nested_step`). A step with `retry` can wait for its next attempt. If nobody knows
 * whether an effect took place, the step waits until a person calls `decide`, unless a `reconcile` function can find out.
 */
function mayWait({ retry, effect, reconcile }: StepOptions): boolean {
  return retry !== undefined || (effect === 'once' && !reconcile)
}

async function execute(
  steps: StepRunner,
  call: StepCall,
  bodyOf: () => StepBody | Promise<StepBody>,
  { retry, timeout }: StepOptions,
  /** Undefined if the step is not an effect. */
  effectCode?: OtherSteps,
): Promise<StepOutcome> {
  // For a stream the body has its chunks as well: `finish` writes those that wait, `attachToRecord` adds the last ones to the record.
  const body = await bodyOf()
  const renewed = steps.deps.execution.assureLease()
  if (renewed) await renewed
  steps.start(call)
  let hasReturned = false
  // Counted here, because a plugin that wraps the function can skip it, throw an error of its own, or call it several times.
  let calls = 0
  /** Those that returned, and those that still run. */
  let callsWithoutError = 0
  let isOver = false
  const fn = async (step: StepContext) => {
    // A plugin that held the function back calls it now that its time is over, or that the plugin itself has failed.
    if (isOver) throw new Error('too late')
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
    const finishing = body.finish()
    const endsStream = finishing instanceof Promise ? await finishing : finishing
    return await steps.record(call, output, { endsStream, attach: () => body.attachToRecord() })
  } catch (error) {
    isOver = true
    body.giveUp()
    // The function was not called, and it will not be, so the effect cannot take place, and nobody has to decide about it (E1 in effect-step.ts).
    if (effectCode && calls === 0) steps.deps.execution.effects.delete(call.name)
    const reason = hasReturned && effectCode ? effectCode.unrecordedEffect(call.name, error) : error
    return steps.fail(call, reason, { retry, mayHaveTakenPlace: callsWithoutError > 0 })
  }
}
