// RunListFeed — the newest runs that match, as the server sends them, over one connection for all watchers of the same list.
// It is a state, not a log: a connection begins with the whole list, and a slow watcher gets the newest list.
import { unlessAborted } from '../../model/abort.ts'
import type { TimerHandle } from '../../model/env.ts'
import { DurablyError } from '../../model/errors.ts'
import { printOf, type Run } from '../../model/run.ts'
import { Waiter } from '../../model/waiter.ts'
import { connectionReporter } from '../connection-reporter.ts'
import type { ConnectionState, FollowOptions } from '../durably-client.ts'
import type { ServerMessage } from './connection.ts'
import { type EventSourceDeps, messages } from './event-source.ts'

/** How long the connection stays open without watchers, for one that comes back at once. */
const LINGER_MS = 50

interface Watcher {
  readonly report: (state: ConnectionState) => void
  readonly waiter: Waiter
}

/** All lists that a client watches. */
export class RunListFeeds {
  readonly #deps: EventSourceDeps
  readonly #feeds = new Map<string, RunListFeed>()

  constructor(deps: EventSourceDeps) {
    this.#deps = deps
  }

  async *pages(path: string, onConnection: FollowOptions['onConnection'], closed: AbortSignal): AsyncGenerator<readonly Run[], void> {
    const feed: RunListFeed =
      this.#feeds.get(path) ??
      new RunListFeed(this.#deps, path, () => {
        if (this.#feeds.get(path) === feed) this.#feeds.delete(path)
      })
    this.#feeds.set(path, feed)
    yield* feed.pages(onConnection, closed)
  }
}

class RunListFeed {
  readonly #deps: EventSourceDeps
  readonly #path: string
  /** Removes the feed, so that new watchers open another one. */
  readonly #forget: () => void
  readonly #watchers = new Set<Watcher>()
  readonly #closed = new AbortController()
  #closing: TimerHandle | null = null
  #state: ConnectionState = 'connecting'
  #page: readonly Run[] | null = null
  #end: { error: unknown } | null = null

  constructor(deps: EventSourceDeps, path: string, forget: () => void) {
    this.#deps = deps
    this.#path = path
    this.#forget = forget
    void this.#run(this.#closed.signal)
  }

  async *pages(onConnection: FollowOptions['onConnection'], closed: AbortSignal): AsyncGenerator<readonly Run[], void> {
    const watcher: Watcher = { report: connectionReporter(onConnection), waiter: new Waiter() }
    this.#enter(watcher)
    try {
      for (let seen: readonly Run[] | null = null; !closed.aborted; ) {
        if (this.#page && this.#page !== seen) {
          seen = this.#page
          yield seen
        } else if (this.#end) {
          if (this.#end.error) throw this.#end.error
          return
        } else {
          await unlessAborted(closed, watcher.waiter.wait())
        }
      }
    } finally {
      this.#leave(watcher)
    }
  }

  #enter(watcher: Watcher): void {
    this.#watchers.add(watcher)
    if (this.#closing !== null) this.#deps.env.clear(this.#closing)
    this.#closing = null
    watcher.report(this.#state)
  }

  #leave(watcher: Watcher): void {
    this.#watchers.delete(watcher)
    if (this.#watchers.size === 0) this.#closing ??= this.#deps.env.timer(LINGER_MS, () => this.#close())
  }

  #close(): void {
    this.#forget()
    this.#closed.abort()
  }

  async #run(signal: AbortSignal): Promise<void> {
    const follower = { target: () => ({ path: this.#path }), onState: (state: ConnectionState) => this.#report(state), signal }
    try {
      for await (const message of messages(this.#deps, follower)) this.#take(message)
      this.#finish(null)
    } catch (error) {
      this.#finish(error)
    }
  }

  #finish(error: unknown): void {
    this.#forget()
    this.#end = { error }
    this.#wake()
  }

  #report(state: ConnectionState): void {
    this.#state = state
    for (const watcher of this.#watchers) watcher.report(state)
  }

  #take({ event, value }: ServerMessage): void {
    if (event === 'denied') throw new DurablyError('forbidden', 'these runs may no longer be read')
    if (event !== 'message') return
    const { runs, order, changed } = value as { runs?: Run[]; order?: string[]; changed?: Run[] }
    const before = this.#page
    const byId = new Map(before?.map((run) => [run.id, run]))
    for (const run of runs ?? changed ?? []) {
      const known = byId.get(run.id)
      // A connection begins with the whole list. Runs that did not change meanwhile stay the same objects.
      if (!known || printOf(known) !== printOf(run)) byId.set(run.id, run)
    }
    const ids = order ?? runs?.map(({ id }) => id) ?? []
    const page = ids.flatMap((id) => byId.get(id) ?? [])
    if (page.length === before?.length && page.every((run, i) => run === before[i])) return
    this.#page = page
    this.#wake()
  }

  #wake(): void {
    for (const { waiter } of this.#watchers) waiter.wake()
  }
}
