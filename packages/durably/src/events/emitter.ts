// Emitter — calls the listeners of this process for each event, at once and in order.
//   E1. Listeners are called synchronously; `sequence` counts every event of the instance.
//   E2. A listener that throws, or whose promise rejects, affects no one else: the `onError` handlers get its error.
import { type Env, iso } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { type DurablyEvent, EVENT_TYPES, type EventOf, type EventType } from '../model/event.ts'
import { nearest } from '../model/known-keys.ts'
import { ListenerList, type Unsubscribe } from './listener-list.ts'

export type { Unsubscribe } from './listener-list.ts'

/** What `on()` calls with each event. What it returns is ignored, and a promise is not awaited. */
export type Listener<T extends EventType = EventType> = (event: EventOf<T>) => unknown
/** What `onError()` calls with the error of a listener, and with the event that the listener was called for. */
export type ListenerErrorHandler = (error: unknown, event: DurablyEvent) => void

/** An event without the two fields that the emitter adds. */
export type Unnumbered<E> = E extends DurablyEvent ? Omit<E, 'sequence' | 'timestamp'> : never

export class Emitter {
  #sequence = 0
  readonly #env: Env
  readonly #listeners = new Map<EventType, ListenerList<DurablyEvent>>()
  #unhandled: ListenerErrorHandler = () => {}
  readonly #errorHandlers = new ListenerList<{ error: unknown; event: DurablyEvent }>()

  constructor(env: Env) {
    this.#env = env
  }

  on<T extends EventType>(type: T, listener: Listener<T>): Unsubscribe {
    if (!EVENT_TYPES.includes(type)) throw new DurablyError('invalid_argument', `there is no event ${nearest(type, EVENT_TYPES)}`)
    const listeners = this.#listeners.get(type) ?? new ListenerList()
    this.#listeners.set(type, listeners)
    return listeners.add((event) => listener(event as EventOf<T>))
  }

  onError(handler: ListenerErrorHandler): Unsubscribe {
    return this.#errorHandlers.add(({ error, event }) => handler(error, event))
  }

  /** Gets the errors of listeners while nobody has asked for them with `onError`. */
  onUnhandled(handler: ListenerErrorHandler): void {
    this.#unhandled = handler
  }

  /** For an event that is expensive to make: asked before, and if nobody listens, the event is counted and need not be made. */
  isListened(type: EventType): boolean {
    if (this.#listeners.get(type)?.size) return true
    this.#sequence++
    return false
  }

  /** Adds the missing fields to the object itself, so the caller must not keep it or pass it to anybody else. */
  emit(unnumbered: Unnumbered<DurablyEvent>): void {
    const sequence = ++this.#sequence
    const listeners = this.#listeners.get(unnumbered.type)
    if (!listeners?.size) return
    const event = unnumbered as DurablyEvent
    event.sequence = sequence
    event.timestamp = iso(this.#env.wall())
    listeners.call(event, this.#failed)
  }

  readonly #failed = (error: unknown, event: DurablyEvent) => {
    if (this.#errorHandlers.size === 0) this.#unhandled(error, event)
    // An error of an error handler has nowhere to go.
    this.#errorHandlers.call({ error, event }, () => {})
  }
}
