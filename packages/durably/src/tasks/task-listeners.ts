// TaskListeners — those who want to hear of the queue, called at once and in order; one that throws harms nobody.
import type { Unsubscribe } from '../events/emitter.ts'
import type { TaskQueueEvents } from './queue.ts'

type Listener<T> = (event: T) => unknown

export class TaskListeners {
  /** A list is replaced when it changes, so one that is being told stays as it is. */
  readonly #listeners: { [T in keyof TaskQueueEvents]: readonly Listener<TaskQueueEvents[T]>[] } = { stateChange: [], error: [] }

  on<T extends keyof TaskQueueEvents>(type: T, listener: Listener<TaskQueueEvents[T]>): Unsubscribe {
    // Each registration is its own, so the same function may listen twice and leave once.
    const own: Listener<TaskQueueEvents[T]> = (event) => listener(event)
    this.#set(type, [...this.#listeners[type], own])
    return () =>
      this.#set(
        type,
        this.#listeners[type].filter((other) => other !== own),
      )
  }

  emit<T extends keyof TaskQueueEvents>(type: T, event: TaskQueueEvents[T]): void {
    for (const listener of this.#listeners[type]) this.#call(type, listener, event)
  }

  #set<T extends keyof TaskQueueEvents>(type: T, listeners: readonly Listener<TaskQueueEvents[T]>[]): void {
    Object.assign(this.#listeners, { [type]: listeners })
  }

  #call<T extends keyof TaskQueueEvents>(type: T, listener: Listener<TaskQueueEvents[T]>, event: TaskQueueEvents[T]): void {
    const failed = (error: unknown) => {
      // A broken listener of errors has nobody left to tell.
      if (type !== 'error') this.emit('error', { error, taskId: event.taskId })
    }
    try {
      const answer = listener(event)
      if (answer instanceof Promise) answer.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
