// NewsDesk — what was written here, or by another process, reaches those who wait for it here and elsewhere.
import type { Env } from '../model/env.ts'
import type { News, Notifier, NotifierParts } from '../store/notifier.ts'

interface NewsDeskParts {
  env: Env
  report: (error: unknown) => void
  openNotifier: ((parts: Omit<NotifierParts, 'channel'>) => Notifier) | null
}

/** Who executes runs. */
interface Worker {
  wake(): void
  /** It was asked to stop, that is certain. */
  cancelHere(runId: string): void
  /** It may have been: its next write will tell. */
  lookForCancel(runId?: string): void
}

/** Who waits for runs. */
interface Watch {
  touch(runId: string): void
  touchAll(): void
}

/** Who looks at many. */
interface Pages {
  touch(): void
}

export class NewsDesk {
  readonly #parts: NewsDeskParts
  #notifier: Notifier | null = null
  #deliver: (news: News, isOwn: boolean) => void = () => {}

  constructor(parts: NewsDeskParts) {
    this.#parts = parts
  }

  hear(worker: Worker, watch: Watch, pages: Pages): void {
    this.#deliver = (news, isOwn) => {
      pages.touch()
      switch (news.type) {
        case 'work':
          return worker.wake()
        case 'events':
          return watch.touch(news.runId)
        case 'cancel':
          return isOwn ? worker.cancelHere(news.runId) : worker.lookForCancel(news.runId)
        case 'anything':
          worker.wake()
          worker.lookForCancel()
          return watch.touchAll()
      }
    }
  }

  tell(news: News): void {
    this.#deliver(news, true)
    this.open()
    this.#notifier?.notify(news)
  }

  /** By the first who tells or waits: an instance that only looks something up connects to nothing. */
  open(): void {
    const { openNotifier, env, report } = this.#parts
    if (openNotifier) this.#notifier ??= openNotifier({ env, report, hear: (news) => this.#deliver(news, false) })
  }

  /** Before the process ends: what it gave back shall be noticed at once. */
  async flush(): Promise<void> {
    await this.#notifier?.flush()
  }

  async close(): Promise<void> {
    await this.#notifier?.close()
  }
}
