// RowAudit — checks what must hold at every moment, by comparing the rows with those of the last look.
//   I6.  A lease is ended by its owner, or by others after it is over or its owner is known to be gone; never before.
//   I14. version, lease_generation, last_event_sequence and the status only move as the transition table allows.
//   I29. A failed run is not retried while the run that triggered it is asked to stop.
//   I70. A run with `holdKey` has its key until it ends (HeldKeyAudit).
//   I2b. A recorded step never changes.  I11. What was recorded is what replays see: outputs stay equal, byte for byte.
import type { RunRow, RunStatus } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import { TRANSITIONS } from '../../model/transitions.ts'
import { LEASE_MS_MAX } from '../../store/runs.ts'
import { runningMeansOwned } from './endings.ts'
import { HeldKeyAudit } from './held-key-audit.ts'
import type { Violation } from './history.ts'
import { oneRunPerKey } from './ownership.ts'

const LEGAL_MOVES = new Set(Object.values(TRANSITIONS).flatMap(({ from, to }) => from.map((status) => `${status} → ${to}`)))

export class RowAudit {
  readonly #runs = new Map<string, RunRow>()
  readonly #steps = new Map<string, StepRow>()
  readonly violations: Violation[] = []
  readonly #heldKeys = new HeldKeyAudit()
  readonly #isAbandoned: (run: RunRow) => boolean

  /** `isAbandoned`: the owner of the run is known to be gone, so others may end its lease early. */
  constructor(isAbandoned: (run: RunRow) => boolean = () => false) {
    this.#isAbandoned = isAbandoned
  }

  /** `nowMs` is the store's own clock. */
  look(runs: RunRow[], steps: StepRow[], nowMs: number): void {
    for (const run of runs) if (this.#isRetried(run)) this.#lookAtParent(run, runs)
    for (const run of runs) this.#lookAtRun(run, nowMs)
    for (const step of steps) this.#lookAtStep(step)
    const moment = {
      runs,
      steps: [],
      events: [],
      ledger: { executions: [], effects: [] },
      acknowledged: [],
      maxRecoveries: 0,
      faultFree: false,
    }
    this.violations.push(...oneRunPerKey(moment), ...runningMeansOwned(moment), ...this.#heldKeys.look(runs))
  }

  #isRetried({ id, status }: RunRow): boolean {
    return status !== 'failed' && this.#runs.get(id)?.status === 'failed'
  }

  /** The parent must have been asked to stop before both looks: one that is asked after the retry does not count. */
  #lookAtParent({ id, parentRunId }: RunRow, runs: readonly RunRow[]): void {
    const asked = this.#runs.get(parentRunId ?? '')?.cancelRequestedAt ?? null
    const parent = runs.find((run) => run.id === parentRunId)
    if (asked !== null && parent?.cancelRequestedAt === asked)
      this.#broken('I29', id, 'was retried, though the run that triggered it was asked to stop')
  }

  #lookAtRun(run: RunRow, nowMs: number): void {
    const before = this.#runs.get(run.id)
    if (before === run) return
    this.#runs.set(run.id, run)
    if (!before) return
    if (wasTakenAway(before, run) && !isLeaseOver(before, nowMs) && !this.#isAbandoned(before))
      this.#broken('I6', run.id, `was ${run.status} before the lease of generation ${before.leaseGeneration} was over`)
    this.#lookForDecrease(run.id, 'version', before.version, run.version)
    this.#lookForDecrease(run.id, 'leaseGeneration', before.leaseGeneration, run.leaseGeneration)
    this.#lookForDecrease(run.id, 'lastEventSequence', before.lastEventSequence, run.lastEventSequence)
    this.#lookForDecrease(run.id, 'currentStepIndex', before.currentStepIndex, run.currentStepIndex)
    if (run.version === before.version && run.status !== before.status)
      this.#broken('I14', run.id, `${before.status} became ${run.status} without a new version`)
    if (run.status !== before.status && run.version === before.version + 1 && !isLegal(before.status, run.status)) {
      this.#broken('I14', run.id, `${before.status} became ${run.status}: no such transition`)
    }
  }

  #lookForDecrease(runId: string, column: keyof RunRow, from: number, to: number): void {
    if (to < from) this.#broken('I14', runId, `${column} went from ${from} to ${to}`)
  }

  #lookAtStep(step: StepRow): void {
    const before = this.#steps.get(step.id)
    this.#steps.set(step.id, step)
    if (before && (before.output !== step.output || before.status !== step.status))
      this.#broken('I2b', step.runId, `step ${JSON.stringify(step.name)} changed after it was recorded`)
  }

  #broken(invariant: string, runId: string, what: string): void {
    this.violations.push({ invariant, runId, what })
  }
}

/** An owner that ends its lease increases the write number; anybody else does not. */
function wasTakenAway(before: RunRow, after: RunRow): boolean {
  return (
    before.status === 'running' &&
    after.leaseOwner !== before.leaseOwner &&
    after.leaseGeneration === before.leaseGeneration &&
    after.leaseWrites === before.leaseWrites
  )
}

function isLeaseOver({ leaseExpiresAt }: RunRow, nowMs: number): boolean {
  return leaseExpiresAt === null || leaseExpiresAt <= nowMs || leaseExpiresAt > nowMs + LEASE_MS_MAX
}

function isLegal(from: RunStatus, to: RunStatus): boolean {
  return LEGAL_MOVES.has(`${from} → ${to}`)
}
