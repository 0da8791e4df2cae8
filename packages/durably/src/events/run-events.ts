// RunEvents — emits the events of runs to the listeners of this process. Each is built of what is recorded of it, and only if somebody
// listens for its type.
import type { Codec } from '../model/codec.ts'
import { type Env, iso } from '../model/env.ts'
import type { EventType, RecordedPayload } from '../model/event.ts'
import type { StepRow } from '../model/step.ts'
import type { Emitter } from './emitter.ts'
import { type EventRun, runEvent } from './run-event.ts'

const NO_LOGS = new Map<string, never>()

/** What an event is built of. */
interface EventSource {
  run: EventRun
  payload?: RecordedPayload
  /** The row that the event refers to. */
  step?: StepRow | undefined
}

export class RunEvents {
  readonly #emitter: Emitter
  readonly #codec: Codec
  readonly #env: Env

  constructor(emitter: Emitter, codec: Codec, env: Env) {
    this.#emitter = emitter
    this.#codec = codec
    this.#env = env
  }

  emit(type: EventType, sourceOf: () => EventSource): void {
    if (!this.#emitter.isListened(type)) return
    const { run, payload = {}, step } = sourceOf()
    const steps = new Map(step && [[step.id, step]])
    const createdAt = iso(this.#env.wall())
    this.#emitter.emit(runEvent({ run, codec: this.#codec, steps, logs: NO_LOGS }, { type, payload, createdAt }))
  }
}
