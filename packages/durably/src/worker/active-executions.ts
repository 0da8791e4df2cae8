// ActiveExecutions — the runs that this worker executes right now.
// An array and not a Set: a Set that changes all the time leaves a chain of old tables behind, and V8's quick collections keep
// all that such tables once held. Executions would pile up by the hundred megabytes until a full collection.
import type { Execution } from './execution.ts'

export interface Slot {
  readonly execution: Execution
  /** When nothing of it is left to do. */
  ended: Promise<void> | null
  /** Its index in the array; only `ActiveExecutions` changes it. */
  place: number
  /** Its job is done, and how it ended is being written. */
  isEnding: boolean
}

export class ActiveExecutions {
  readonly #slots: Slot[] = []

  get size(): number {
    return this.#slots.length
  }

  /** How many of them are ending. */
  get ending(): number {
    return this.#slots.filter(({ isEnding }) => isEnding).length
  }

  add(execution: Execution): Slot {
    const slot = { execution, ended: null, place: this.#slots.length, isEnding: false }
    this.#slots.push(slot)
    return slot
  }

  remove({ place }: Slot): void {
    const last = this.#slots.pop()
    if (last === undefined || last.place === place) return
    last.place = place
    this.#slots[place] = last
  }

  executions(): Execution[] {
    return this.#slots.map(({ execution }) => execution)
  }

  find(isWanted: (execution: Execution) => boolean): Execution | undefined {
    return this.#slots.find(({ execution }) => isWanted(execution))?.execution
  }

  /** This process lost the run without noticing, and has claimed it again: its earlier execution must not go on. */
  loseEarlier(runId: string): void {
    for (const { execution } of this.#slots) if (execution.run.id === runId) execution.owner.loseToAnother('it was claimed anew')
  }

  /** Resolves when all executions that are active now have ended. */
  ended(): Promise<unknown> {
    return Promise.all(this.#slots.map(({ ended }) => ended))
  }
}
