// RunCommands — what a person may do to a run from outside.
import type { Emitter } from '../events/emitter.ts'
import type { Codec } from '../model/codec.ts'
import type { Env } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { type Run, toRun } from '../model/run.ts'
import type { CancelOutcome, RunStore } from '../store/runs.ts'

export interface RunCommandParts {
  runs: RunStore
  env: Env
  codec: Codec
  emitter: Emitter
}

export class RunCommands {
  readonly #parts: RunCommandParts

  constructor(parts: RunCommandParts) {
    this.#parts = parts
  }

  /** A failed run goes on from its last recorded step. */
  async retry(id: string): Promise<Run> {
    const { runs, emitter, env, codec } = this.#parts
    const { outcome, run } = found(await runs.retry(id), id)
    if (outcome === 'refused') {
      throw new DurablyError(
        'run_not_retryable',
        `run ${id} is ${run.status}; only a failed run can be retried, trigger a new one instead`,
        { runId: id },
      )
    }
    emitter.emit({ type: 'run:retry', runId: id, jobName: run.jobName })
    return toRun(run, codec, env.wall())
  }

  /** A pending run is cancelled at once, a running one is asked to stop; a run that has ended stays as it is. */
  async cancel(id: string): Promise<CancelOutcome['outcome']> {
    const { runs, emitter } = this.#parts
    const { outcome, run } = found(await runs.cancel(id), id)
    if (outcome === 'cancelled') emitter.emit({ type: 'run:cancel', runId: id, jobName: run.jobName })
    return outcome
  }

  /** Removes a run that has ended, with its steps, logs and events; its idempotency key is free again. */
  async deleteRun(id: string): Promise<void> {
    const { outcome, status } = found(await this.#parts.runs.delete(id), id)
    if (outcome === 'refused')
      throw new DurablyError('run_active', `run ${id} is ${status}; cancel it and wait for its end, then delete it`, { runId: id })
  }
}

function found<T>(answer: T | null, id: string): T {
  if (answer === null) throw new DurablyError('run_not_found', `there is no run ${JSON.stringify(id)}`, { runId: id })
  return answer
}
