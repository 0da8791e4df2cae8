// KnownRuns — the runs by what a trigger may ask for again: the step of their parent, their idempotency key, and
// the time of their schedule.
import type { RunRow } from '../../model/run.ts'
import { grow } from './grow.ts'
import type { RunRecord } from './run-record.ts'

type Slot = Pick<RunRow, 'scheduleId' | 'scheduledFor'>
type KnownBy = Pick<RunRow, 'jobName' | 'idempotencyKey' | 'parentRunId' | 'parentStep'>

export class KnownRuns {
  /** By the run that triggered them. */
  readonly #children = new Map<string, Set<RunRow>>()
  /** Parent, then step. */
  readonly #ofStep = new Map<string, Map<string, RunRecord>>()
  /** Job, then idempotency key. */
  readonly #idempotent = new Map<string, Map<string, RunRecord>>()

  /** The times of schedules that have a run. */
  readonly #slots = new Set<string>()

  hasSlot(slot: Slot): boolean {
    return this.#slots.has(slotKey(slot))
  }

  /** The run of its parent's step, or the one with its idempotency key. */
  find({ jobName, idempotencyKey, parentRunId, parentStep }: KnownBy): RunRecord | undefined {
    const child = parentRunId === null || parentStep === null ? undefined : this.#ofStep.get(parentRunId)?.get(parentStep)
    return child ?? (idempotencyKey === null ? undefined : this.#idempotent.get(jobName)?.get(idempotencyKey))
  }

  childOf(parentRunId: string, step: string): RunRow | undefined {
    return this.#ofStep.get(parentRunId)?.get(step)?.row
  }

  childrenOf(id: string): RunRow[] {
    return [...(this.#children.get(id) ?? [])]
  }

  add(record: RunRecord): void {
    const { row } = record
    if (row.scheduledFor !== null) this.#slots.add(slotKey(row))
    if (row.idempotencyKey !== null) grow(this.#idempotent, row.jobName, () => new Map()).set(row.idempotencyKey, record)
    if (row.parentRunId === null) return
    grow(this.#children, row.parentRunId, () => new Set()).add(row)
    if (row.parentStep !== null) grow(this.#ofStep, row.parentRunId, () => new Map()).set(row.parentStep, record)
  }

  remove(row: RunRow): void {
    if (row.scheduledFor !== null) this.#slots.delete(slotKey(row))
    if (row.idempotencyKey !== null) this.#idempotent.get(row.jobName)?.delete(row.idempotencyKey)
    if (row.parentRunId !== null) this.#removeChild(row.parentRunId, row)
  }

  #removeChild(parentRunId: string, row: RunRow): void {
    const children = this.#children.get(parentRunId)
    children?.delete(row)
    if (row.parentStep !== null) this.#ofStep.get(parentRunId)?.delete(row.parentStep)
    if (children?.size !== 0) return
    this.#children.delete(parentRunId)
    this.#ofStep.delete(parentRunId)
  }
}

function slotKey({ scheduleId, scheduledFor }: Slot): string {
  return `${scheduledFor} ${scheduleId}`
}
