// RunRecord — a run in memory, and what belongs to it. Most runs have no steps, logs or signals, so the place for them is made
// when something is put there.
import type { EventRow } from '../../model/event.ts'
import type { LogRow } from '../../model/log.ts'
import type { RunRow } from '../../model/run.ts'
import type { SignalRow } from '../../model/signal.ts'
import type { StepRow } from '../../model/step.ts'

interface Belongings {
  /** By id, in the order in which they were recorded. */
  readonly steps: Map<string, StepRow>
  readonly completedStepNames: Set<string>
  /** Ordered by `seq`. */
  events: EventRow[]
  /** In the order in which they were stored. */
  logs: LogRow[]
  signals: SignalRow[]
}

interface ReadonlyBelongings {
  readonly steps: ReadonlyMap<string, StepRow>
  readonly completedStepNames: ReadonlySet<string>
  readonly events: readonly EventRow[]
  readonly logs: readonly LogRow[]
  readonly signals: readonly SignalRow[]
}

const NONE: ReadonlyBelongings = { steps: new Map(), completedStepNames: new Set(), events: [], logs: [], signals: [] }

export class RunRecord {
  readonly row: RunRow
  #own: Belongings | null = null

  constructor(row: RunRow) {
    this.row = row
  }

  /** For reading: shared and empty while nothing was stored. */
  get kept(): ReadonlyBelongings {
    return this.#own ?? NONE
  }

  /** For writing: made when it is first used. */
  get own(): Belongings {
    this.#own ??= { steps: new Map(), completedStepNames: new Set(), events: [], logs: [], signals: [] }
    return this.#own
  }
}
