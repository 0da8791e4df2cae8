// FailedAttempts — what became of the earlier attempts of a step, or of the job, that a run waits to try again.
import type { RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import type { WaitingFor } from '../../model/waiting-for.ts'
import { pagesOf } from '../../store/pages-of.ts'
import type { StepStore } from '../../store/steps.ts'
import type { FailedAttempts } from './explanation.ts'

/** Of a run with more steps than these, the rest is not looked at. A page of the dashboard asks every few seconds. */
const STEPS_MAX = 1000
const ERROR_CHARS_MAX = 200

/** Null if it does not wait for another attempt, or if none is found among its first steps. */
export async function failedAttempts(steps: StepStore, row: RunRow, wait: WaitingFor | undefined): Promise<FailedAttempts | null> {
  if (wait?.kind === 'retry') return row.error === null ? null : { count: row.attempts, error: firstLine(row.error) }
  if (wait?.kind !== 'step retry') return null
  let count = 0
  let last: StepRow | undefined
  for await (const page of pagesOf((page) => steps.list(row.id, page), { limit: STEPS_MAX }))
    for (const step of page ?? []) {
      // What was recorded before the last manual retry counts no longer.
      if (step.name !== wait.step || step.status !== 'failed' || step.leaseGeneration <= row.retryGeneration) continue
      count++
      if (!last || step.startedAt >= last.startedAt) last = step
    }
  return last ? { count, error: firstLine(last.error ?? '') } : null
}

function firstLine(text: string): string {
  const [line = ''] = text.split('\n')
  return line.length > ERROR_CHARS_MAX ? `${line.slice(0, ERROR_CHARS_MAX)}…` : line
}
