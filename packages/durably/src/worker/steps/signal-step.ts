// `ctx.waitFor`: a step whose record is an array with the value that was sent. An empty array means that the time was over; a signal that
// comes later changes nothing.
import { durationMs } from '../../model/duration.ts'
import { checkSignalName } from '../../model/effect.ts'
import { signalSchema, validate, type WaitForOptions } from '../../model/job.ts'
import { checkKeys, type KeysOf } from '../../model/known-keys.ts'
import { findSignal } from './sent-signals.ts'
import type { StepCall, StepOutcome, StepRunner } from './step-runner.ts'

const WAIT_FOR_OPTIONS: KeysOf<WaitForOptions> = { schema: 1, timeout: 1 }

export async function receiveSignal(steps: StepRunner, call: StepCall, options: WaitForOptions): Promise<StepOutcome> {
  const { execution, codec, jobs } = steps.deps
  const { parking } = execution
  const { name } = call
  const what = `signal ${JSON.stringify(name)}`
  checkSignalName(name)
  checkKeys('ctx.waitFor', options, WAIT_FOR_OPTIONS)
  const job = jobs.get(execution.run.jobName)
  const { schema = job && signalSchema(job, name), timeout } = options
  const limitMs = timeout === undefined ? null : durationMs(`timeout of ${what}`, timeout)
  const dueAt = limitMs === null ? null : Math.ceil((await execution.clock.storeNow()) + limitMs)
  const isOver = parking.isOver(name)
  // If the job fails before the signals are read, its next attempt does not begin the time anew.
  if (dueAt !== null && isOver === undefined) parking.waits.set(name, { name, kind: 'limit', dueAt })
  const signal = await findSignal(steps, name)
  if (signal) {
    try {
      const value = codec.decode(signal.value)
      const accepted = schema ? await validate(schema, value, 'invalid_input', () => what) : value
      return await steps.record(call, codec.encode([accepted], what))
    } catch (error) {
      parking.waits.delete(name)
      return steps.fail(call, error)
    }
  }
  if (!isOver) return { wait: { name, kind: 'signal', dueAt: parking.waits.get(name)?.dueAt ?? dueAt } }
  return steps.record(call, codec.encode([], what))
}
