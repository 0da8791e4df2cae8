// `ctx.waitFor`: a step whose record is an array with the value that was sent. An empty array means that the time was over; a signal that
// comes later changes nothing.
import { durationMs } from '../../model/duration.ts'
import { checkSignalName } from '../../model/effect.ts'
import { DurablyError } from '../../model/errors.ts'
import { validate, type WaitForOptions } from '../../model/job.ts'
import type { StepRunner } from './step-runner.ts'

export async function signalStep(steps: StepRunner, name: string, { schema, timeout }: WaitForOptions): Promise<unknown> {
  const { execution, codec } = steps.deps
  const { parking } = execution
  const what = `signal ${JSON.stringify(name)}`
  const record = await steps.step(name, async (call) => {
    checkSignalName(name)
    const limitMs = timeout === undefined ? null : durationMs(`timeout of ${what}`, timeout)
    const dueAt = limitMs === null ? null : Math.ceil((await execution.storeNow()) + limitMs)
    const signal = await steps.signals.find(name)
    if (signal) {
      try {
        const value = codec.decode(signal.value)
        const accepted = schema ? await validate(schema, value, 'invalid_input', () => what) : value
        return await steps.record(call, codec.encode([accepted], what))
      } catch (error) {
        return steps.fail(call, error)
      }
    }
    if (!parking.isOver(name)) return { wait: { name, kind: 'signal', dueAt: parking.get(name)?.dueAt ?? dueAt } }
    return steps.record(call, codec.encode([], what))
  })
  const received = record as unknown[]
  if (received.length > 0) return received[0]
  const timedOut = new DurablyError('wait_timeout', `no ${what} came in time`)
  steps.failed.blame(name, timedOut)
  throw timedOut
}
