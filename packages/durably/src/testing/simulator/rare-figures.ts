// How often a world met what few worlds know, so that a kind that never happens shows.
import { jsonCodec } from '../../model/codec.ts'
import { type History, stepKey, THE_JOB } from '../invariants/index.ts'
import { childrenOf } from './planned-run.ts'
import type { SimPayload } from './workload.ts'

export interface RareFigures {
  /** Races of which a leg was recorded. */
  races: number
  /** Crowds of which all were triggered, or awaited where they were invoked. */
  crowds: number
  /** Errors that said when to try again (`retryAfter`). */
  later: number
  /** Results that could not be stored: of steps that must not run twice, of others, and of jobs. */
  misfitsOnce: number
  misfits: number
  spoiled: number
  /** Transactions that took too long. */
  late: number
}

const codec = jsonCodec()

export function rareFiguresOf({ runs, steps, ledger }: History): RareFigures {
  const recorded = new Set(steps.filter(({ status }) => status === 'completed').map(({ runId, name }) => stepKey({ runId, step: name })))
  const planned = runs.flatMap(({ id, payload }) => (codec.decode(payload) as SimPayload).steps.map((step) => ({ runId: id, ...step })))
  const races = planned.filter(
    (step) => step.kind === 'race' && step.legs.some(({ name }) => recorded.has(stepKey({ runId: step.runId, step: name }))),
  )
  const crowds = planned.filter(
    (step) => step.kind === 'crowd' && childrenOf(step).every(({ name }) => recorded.has(stepKey({ runId: step.runId, step: name }))),
  )
  const misfits = ledger.effects.filter(({ tookPlace }) => tookPlace)
  const misfitsOnce = misfits.filter(({ once }) => once).length
  return {
    races: races.length,
    crowds: crowds.length,
    later: ledger.retryAfters?.length ?? 0,
    misfitsOnce,
    misfits: misfits.length - misfitsOnce,
    late: steps.filter(({ failure }) => failure?.includes('"transaction_timeout"')).length,
    spoiled: ledger.gaveUp?.filter(({ step }) => step === THE_JOB).length ?? 0,
  }
}
