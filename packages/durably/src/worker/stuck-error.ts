import { DurablyError } from '../model/errors.ts'
import type { RunRow } from '../model/run.ts'

interface Stuck {
  run: RunRow
  /** Why it was asked to stop; `null` if it waits instead. */
  interrupted: DurablyError | null
  waitsFor: string | undefined
  steps: readonly string[]
}

/** For an execution that holds its slot for longer than a lease, because its functions go on. */
export function stuckError({ run: { id, jobName }, interrupted, waitsFor, steps }: Stuck): DurablyError {
  const [wish, advice] = interrupted
    ? [`was asked to stop (${interrupted.code})`, 'let them heed their signal']
    : [`waits for ${waitsFor}`, 'do not await it inside of a step']
  return new DurablyError(
    'run_stuck',
    `run ${id} of job ${JSON.stringify(jobName)} ${wish}, but steps ${JSON.stringify(steps)} go on; ${advice}`,
  )
}
