// Emitter — tells the listeners of this process what happened, at once and in order.
//   E1. Listeners are called synchronously; `sequence` counts every event of the instance.
//   E2. A listener that throws, or whose promise rejects, harms nobody: `onError` hears of it.

import { type Env, iso } from '../model/env.ts'
import type { DurablyEvent, EventOf, EventType } from '../model/event.ts'

export type Listener<T extends EventType = EventType> = (event: EventOf<T>) => unknown
export type ListenerErrorHandler = (error: unknown, event: DurablyEvent) => void
export type Unsubscribe = () => void

/** The emitter adds when, and as which one, an event was emitted. */
export type Unnumbered<E> = E extends DurablyEvent ? Omit<E, 'sequence' | 'timestamp'> : never

export class Emitter {
  #sequence = 0
  readonly #env: Env
  /** A list is replaced when it changes, so one that is being told stays as it is. */
  readonly #listeners = new Map<EventType, readonly Listener[]>()
  readonly #errorHandlers = new Set<ListenerErrorHandler>()

  constructor(env: Env) {
    this.#env = env
  }

  on<T extends EventType>(type: T, listener: Listener<T>): Unsubscribe {
    // Each registration is its own, so the same function may listen twice and leave once.
    const own: Listener = (event) => listener(event as EventOf<T>)
    const listeners = () => this.#listeners.get(type) ?? []
    this.#listeners.set(type, [...listeners(), own])
    return () =>
      void this.#listeners.set(
        type,
        listeners().filter((other) => other !== own),
      )
  }

  onError(handler: ListenerErrorHandler): Unsubscribe {
    const own: ListenerErrorHandler = (error, event) => handler(error, event)
    this.#errorHandlers.add(own)
    return () => void this.#errorHandlers.delete(own)
  }

  /** For an event that costs something to make. */
  emitIfHeard(type: EventType, make: () => Unnumbered<DurablyEvent>): void {
    if (this.#listeners.get(type)?.length) this.emit(make())
    else this.#sequence++
  }

  /** Completes the event that it is given; it must not be anybody else's. */
  emit(unnumbered: Unnumbered<DurablyEvent>): void {
    const sequence = ++this.#sequence
    const listeners = this.#listeners.get(unnumbered.type)
    if (!listeners?.length) return
    const event = unnumbered as DurablyEvent
    event.sequence = sequence
    event.timestamp = iso(this.#env.wall())
    for (const listener of listeners) this.#call(listener, event)
  }

  #call(listener: Listener, event: DurablyEvent): void {
    try {
      const answer = listener(event)
      if (answer instanceof Promise) answer.catch((error) => this.#failed(error, event))
    } catch (error) {
      this.#failed(error, event)
    }
  }

  #failed(error: unknown, event: DurablyEvent): void {
    for (const handler of [...this.#errorHandlers]) {
      try {
        handler(error, event)
      } catch {
        // Nobody is left to tell.
      }
    }
  }
}
