// FinishedTasks — how many finished tasks the queue's own memory holds; beyond that the oldest are forgotten at once.
//   R1. A task that was redriven is not finished, and its place is gone with it.
//   R2. The bound is for memory that belongs to this queue alone, so what it hears of is all there is.
import type { TaskStateChange } from './state-change.ts'

interface FinishedTasksParts {
  finishedMax: number
  forget: (taskId: string) => Promise<unknown>
  report: (error: unknown) => void
}

export class FinishedTasks {
  readonly #parts: FinishedTasksParts
  /** Oldest first. */
  readonly #finished = new Set<string>()
  /** Stays at the oldest: a new one would walk over the gaps that the deleted ones leave in the set. */
  readonly #oldest = this.#finished.values()

  constructor(parts: FinishedTasksParts) {
    this.#parts = parts
  }

  hear({ taskId, state }: TaskStateChange): void {
    const { finishedMax } = this.#parts
    if (finishedMax === Number.POSITIVE_INFINITY) return
    if (state === 'Queued') this.#finished.delete(taskId)
    if (state === 'Succeeded' || state === 'Dead' || state === 'Cancelled') this.#finished.add(taskId)
    while (this.#finished.size > finishedMax) this.#forgetOldest()
  }

  #forgetOldest(): void {
    const { value: taskId } = this.#oldest.next()
    if (taskId === undefined) throw new Error('R2: a set above its bound has an oldest')
    this.#finished.delete(taskId)
    this.#parts.forget(taskId).catch(this.#parts.report)
  }
}
