import type { StepRunner } from './step-runner.ts'

/** A sleep is a step: begun by parking the run, recorded when the run has come back after its time. */
export async function sleepStep(steps: StepRunner, name: string, dueTime: () => Promise<number>): Promise<void> {
  const { execution } = steps.deps
  const { parking } = execution
  await steps.step(name, async (call) => {
    if (parking.isOver(name)) return steps.record(call, null)
    const known = parking.waits.get(name)
    if (known) return { wait: known }
    const dueAt = Math.ceil(await dueTime())
    return execution.clock.time.isPast(dueAt) ? steps.record(call, null) : { wait: { name, kind: 'sleep', dueAt } }
  })
}
