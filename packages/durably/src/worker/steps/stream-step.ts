import type { Emitter } from '../../events/emitter.ts'
import type { Codec } from '../../model/codec.ts'
import type { Env } from '../../model/env.ts'
import type { Checkpoint, StreamFunction } from '../../model/job.ts'
import type { Store } from '../../store/store.ts'
import type { Execution } from '../execution.ts'
import { flushWindowOf } from './flush-window.ts'
import { keptChunks } from './kept-chunks.ts'
import { obtainForRun } from './obtain-for-run.ts'
import type { StepBody } from './step-body.ts'
import { StreamWriter } from './stream-writer.ts'
import { streamsOf } from './unrecorded-streams.ts'
import { withoutUnhandledRejection } from './without-unhandled-rejection.ts'

export interface StreamStepDeps {
  execution: Execution
  store: Store
  env: Env
  codec: Codec
  emitter: Emitter
  leaseMs: number
  report: (error: unknown, runId?: string) => void
  stepName: string
}

/** A step whose function emits chunks; it continues from the last checkpoint of an earlier attempt, if there was one. */
export async function streamStep<TState>(deps: StreamStepDeps, fn: StreamFunction<unknown, TState>): Promise<StepBody> {
  const { execution, store, codec, stepName } = deps
  const open = streamsOf(execution).get(stepName)
  const kept = open ? await obtainForRun(deps, 'the output that was kept', () => keptChunks(store, codec, execution.run.id, open)) : []
  const writer = new StreamWriter({ ...deps, window: flushWindowOf(deps), eventLog: store.eventLog, kept })
  const emit = (chunk: unknown) => withoutUnhandledRejection<void>(writer.emit(chunk))
  const checkpoint = Object.assign((state: TState) => withoutUnhandledRejection<void>(writer.checkpoint(state)), {
    state: codec.decode(open?.state ?? null) as TState | undefined,
  }) satisfies Checkpoint<TState>
  return {
    call: (step) => fn(emit, checkpoint, step),
    finish: () => writer.finish(),
    attachToRecord: () => writer.attachToRecord(),
    giveUp: () => writer.giveUp(),
  }
}
