// ChangeBus — delivers changes of this process and of others to the parts of this instance, and publishes its own changes to the others.
import type { Env } from '../model/env.ts'
import type { Change, Notifier, NotifierDeps } from '../store/notifier.ts'

interface ChangeBusDeps {
  env: Env
  report: (error: unknown) => void
  openNotifier: ((deps: Omit<NotifierDeps, 'channel'>) => Notifier) | null
}

/** Executes runs. */
interface Worker {
  wake(): void
  /** The run was asked to stop: this instance has written the request itself. */
  cancelHere(runId: string): void
  /** A run may have been asked to stop. A write of its owner will show whether it was. */
  lookForCancel(runId?: string): void
}

/** Waits for single runs. */
interface Watch {
  touch(runId: string, isHeld?: boolean): void
  touchAll(): void
}

/** Shows lists of runs. */
interface RunLists {
  touch(): void
}

export class ChangeBus {
  readonly #deps: ChangeBusDeps
  #notifier: Notifier | null = null
  #deliver: (change: Change, isOwn: boolean) => void = () => {}

  constructor(deps: ChangeBusDeps) {
    this.#deps = deps
  }

  deliverTo(worker: Worker, watch: Watch, runLists: RunLists): void {
    this.#deliver = (change, isOwn) => {
      runLists.touch()
      switch (change.type) {
        case 'work':
          return worker.wake()
        case 'events':
          return watch.touch(change.runId, change.isHeld)
        case 'cancel':
          return isOwn ? worker.cancelHere(change.runId) : worker.lookForCancel(change.runId)
        case 'anything':
          worker.wake()
          worker.lookForCancel()
          return watch.touchAll()
      }
    }
  }

  publish(change: Change): void {
    this.#deliver(change, true)
    this.open()
    this.#notifier?.notify(change)
  }

  /** Opened on first publish or wait; an instance that only reads never connects. */
  open(): void {
    const { openNotifier, env, report } = this.#deps
    if (openNotifier) this.#notifier ??= openNotifier({ env, report, onChange: (change) => this.#deliver(change, false) })
  }

  /** Before the process ends, so that others notice at once what it gave back. */
  async flush(): Promise<void> {
    await this.#notifier?.flush()
  }

  async close(): Promise<void> {
    await this.#notifier?.close()
  }
}
