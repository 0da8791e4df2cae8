// UnrecordedEffects — the effects of one execution that have begun and are not recorded, as the row of the run has them.
import { decodeEffects, type Effect, encodeEffects } from '../../model/effect.ts'
import type { RunRow } from '../../model/run.ts'
import type { Owner } from '../lease/owner.ts'

export class UnrecordedEffects {
  readonly #open: Map<string, Effect>
  readonly #owner: Owner
  readonly #generation: number

  constructor(run: RunRow, owner: Owner) {
    this.#open = new Map(decodeEffects(run.effects).map((effect) => [effect.name, effect]))
    this.#owner = owner
    this.#generation = run.leaseGeneration
  }

  /** The lease generation in which it began; `undefined` when it is not open. */
  startedIn(stepName: string): number | undefined {
    return this.#open.get(stepName)?.generation
  }

  /** Stored with the next write. */
  begin(name: string): void {
    this.add({ name, generation: this.#generation })
  }

  /** Stored with the next write. */
  add(effect: Effect): void {
    this.#open.set(effect.name, effect)
    this.#attach()
  }

  /** Stored with the next write. */
  delete(stepName: string): Effect | undefined {
    const effect = this.#open.get(stepName)
    if (this.#open.delete(stepName)) this.#attach()
    return effect
  }

  #attach(): void {
    this.#owner.attachments.effects = encodeEffects(this.#open.values())
  }
}
