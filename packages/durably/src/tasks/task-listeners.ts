// TaskListeners — those who want to hear of the queue, called at once and in order; one that throws harms nobody.
import type { Unsubscribe } from '../events/emitter.ts'
import type { TaskQueueEvents } from './queue.ts'

type Listener<T> = (event: T) => unknown

export class TaskListeners {
  readonly #listeners: { [T in keyof TaskQueueEvents]: Set<Listener<TaskQueueEvents[T]>> } = { stateChange: new Set(), error: new Set() }

  on<T extends keyof TaskQueueEvents>(type: T, listener: Listener<TaskQueueEvents[T]>): Unsubscribe {
    // Each registration is its own, so the same function may listen twice and leave once.
    const own: Listener<TaskQueueEvents[T]> = (event) => listener(event)
    this.#listeners[type].add(own)
    return () => void this.#listeners[type].delete(own)
  }

  tell<T extends keyof TaskQueueEvents>(type: T, event: TaskQueueEvents[T]): void {
    for (const listener of [...this.#listeners[type]]) this.#call(type, listener, event)
  }

  #call<T extends keyof TaskQueueEvents>(type: T, listener: Listener<TaskQueueEvents[T]>, event: TaskQueueEvents[T]): void {
    const failed = (error: unknown) => {
      // A broken listener of errors has nobody left to tell.
      if (type !== 'error') this.tell('error', { error, taskId: event.taskId })
    }
    try {
      const answer = listener(event)
      if (answer instanceof Promise) answer.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
