// SimLedger — records what the functions of a simulated world really did. It is kept outside the store.
import type { Durably } from '../../durably.ts'
import { jsonCodec } from '../../model/codec.ts'
import type { Checkpoint, Emit } from '../../model/job.ts'
import {
  type Acknowledged,
  type AnswerNote,
  type ClaimNote,
  type CreatedNote,
  type Effect,
  flat,
  type GaveUpNote,
  type JobExecution,
  type PutAwayNote,
  type RetryAfterNote,
  type SignalNote,
  type StreamAttempt,
  stepKey,
  type WaitNote,
} from '../invariants/index.ts'
import type { SimProcess } from './sim-process.ts'

type Open = { endedAt: number | null; process: string }

interface Entering<TState> {
  runId: string
  step: string
  generation: number
  emit: Emit
  checkpoint: Checkpoint<TState>
}

interface Entered<TState> {
  emit: Emit
  checkpoint: Checkpoint<TState>
  /** To be called when the function has ended; the engine refuses what it emits later. */
  leave: () => void
}

export class SimLedger {
  readonly executions: (JobExecution & Open)[] = []
  readonly effects: (Effect & Open)[] = []
  readonly streams: StreamAttempt[] = []
  readonly acknowledged: Acknowledged[] = []
  readonly claims: ClaimNote[] = []
  readonly created: CreatedNote[] = []
  readonly waits: WaitNote[] = []
  readonly putAway: PutAwayNote[] = []
  readonly signals: SignalNote[] = []
  readonly answers: AnswerNote[] = []
  readonly gaveUp: GaveUpNote[] = []
  readonly retryAfters: RetryAfterNote[] = []
  /** Calls inside of a step that were refused, because they may wait. */
  refused = 0
  readonly #codec = jsonCodec()
  readonly #booked = new Map<string, number>()
  #places = 0

  /** The next number in the order of all notes. */
  place(): number {
    return this.#places++
  }

  enterJob(process: string, runId: string, generation: number, now: number): JobExecution {
    const execution: JobExecution & Open = { process, runId, generation, startedAt: now, endedAt: null }
    this.executions.push(execution)
    return execution
  }

  enterStep(process: string, runId: string, step: string, generation: number, now: number, wasAborted: boolean): Effect {
    const effect: Effect & Open = { process, runId, step, generation, startedAt: now, endedAt: null, outcome: 'unfinished', wasAborted }
    effect.place = this.place()
    this.effects.push(effect)
    return effect
  }

  /** The owner ended its lease by a write: a job function that still waits for something is never answered. */
  leaseEnded(runId: string, generation: number, now: number): void {
    for (const open of this.executions) {
      if (open.runId === runId && open.generation === generation) open.endedAt ??= now
    }
  }

  /** A function threw an error that says when to try again (`retryAfter`). */
  recordRetryAfter(process: SimProcess, { runId, generation, step, afterMs }: Omit<RetryAfterNote, 'place' | 'thrownAt'>): void {
    const beginning = process.claims.beginning(runId)
    this.retryAfters.push({
      place: this.place(),
      runId,
      generation,
      step,
      afterMs,
      get thrownAt() {
        return beginning.earliest
      },
    })
  }

  /** How often the function of a transaction was entered before. */
  enterBooking(runId: string, step: string): number {
    const key = stepKey({ runId, step })
    const before = this.#booked.get(key) ?? 0
    this.#booked.set(key, before + 1)
    return before
  }

  /** Records what a stream's function emits from now on; returns its `emit` and `checkpoint`, which record each call. */
  enterStream<TState>(process: SimProcess, { runId, step, generation, emit, checkpoint }: Entering<TState>): Entered<TState> {
    const given = checkpoint.state === undefined ? null : this.#codec.encode(checkpoint.state, 'state')
    const attempt: StreamAttempt = { runId, step, generation, given, text: '', checkpoints: [] }
    this.streams.push(attempt)
    let isOver = false
    const recording = async (state: TState): Promise<void> => {
      const reached = { state: this.#codec.encode(state, 'state') ?? '', length: attempt.text.length, acknowledged: false }
      attempt.checkpoints.push(reached)
      await checkpoint(state)
      reached.acknowledged = process.alive
    }
    return {
      emit: (chunk) => {
        if (!isOver) attempt.text += flat([chunk])
        return emit(chunk)
      },
      checkpoint: Object.assign(recording, { state: checkpoint.state }),
      leave: () => {
        isOver = true
      },
    }
  }

  /** Records each event that a live process emits to its listeners: what it announces must still hold at the end. */
  recordAcknowledgements(durably: Durably, process: SimProcess): void {
    const promised = (acknowledged: Acknowledged) => process.alive && this.acknowledged.push(acknowledged)
    durably.on('step:complete', ({ runId, stepName }) => promised({ kind: 'step', runId, step: stepName }))
    durably.on('run:complete', ({ runId }) => promised({ kind: 'ended', runId, status: 'completed' }))
    durably.on('run:fail', ({ runId }) => promised({ kind: 'ended', runId, status: 'failed' }))
    durably.on('run:cancel', ({ runId }) => promised({ kind: 'ended', runId, status: 'cancelled' }))
  }

  /** A function of a user is executing in a live process. */
  get isAtWork(): boolean {
    return [...this.executions, ...this.effects].some(({ endedAt }) => endedAt === null)
  }

  /** The functions of a killed process ended with it. */
  processDied(process: string, now: number): void {
    for (const open of [...this.executions, ...this.effects]) if (open.process === process && open.endedAt === null) open.endedAt = now
  }
}
