// TaskListeners — the listeners of a queue. The error of a listener goes to the `error` listeners.
import { ListenerList, type Unsubscribe } from '../events/listener-list.ts'
import type { TaskQueueEvents } from './queue.ts'

export class TaskListeners {
  readonly #lists: { [T in keyof TaskQueueEvents]: ListenerList<TaskQueueEvents[T]> } = {
    stateChange: new ListenerList(),
    error: new ListenerList(),
  }

  on<T extends keyof TaskQueueEvents>(type: T, listener: (event: TaskQueueEvents[T]) => unknown): Unsubscribe {
    return this.#lists[type].add(listener)
  }

  emit<T extends keyof TaskQueueEvents>(type: T, event: TaskQueueEvents[T]): void {
    this.#lists[type].call(event, (error, { taskId }) => {
      // An error of an `error` listener has nowhere to go.
      if (type !== 'error') this.emit('error', { error, taskId })
    })
  }
}
