// SharedConnection — the logs of several runs over one connection, for all their subscribers.
//   C1. When its subscribers change it reconnects, once for all changes within a short time. While the server is unavailable it keeps to
//       its pauses.
//   C2. A subscriber gets events only from a connection that began at or before its cursor, so no event is skipped.
//   C3. A subscriber that does not read is left out until there is room in its queue: the others do not wait for it, and no events pile up.
import { unlessAborted } from '../../model/abort.ts'
import type { TimerHandle } from '../../model/env.ts'
import { DurablyError } from '../../model/errors.ts'
import type { RunLogEvent } from '../../model/event.ts'
import type { ConnectionState } from '../durably-client.ts'
import type { ServerMessage, Target } from './connection.ts'
import { type EventSourceDeps, type Follower, messages } from './event-source.ts'
import { runPath } from './run-path.ts'
import type { RunSubscription } from './run-subscription.ts'

/** The most runs that a server accepts in one request. */
const RUNS_MAX = 100
const SETTLE_MS = 50

interface Open {
  readonly end: AbortController
  /** The current connection; to abort it opens another one. */
  connection: AbortController
  /** The subscribers that get the events (C2). */
  served: Set<RunSubscription>
  /** The last sequence that arrived of each run. */
  positions: Map<string, number>
  isLive: boolean
}

export class SharedConnection {
  readonly #deps: EventSourceDeps
  readonly #isAlone: boolean
  readonly #onRefused: (members: RunSubscription[]) => void
  readonly #members = new Set<RunSubscription>()
  readonly #full = new Set<RunSubscription>()
  #open: Open | null = null
  #timer: TimerHandle | null = null

  /** `onRefused` gets the subscribers when the server refuses them together. Without it the connection is for one run. */
  constructor(deps: EventSourceDeps, onRefused?: (members: RunSubscription[]) => void) {
    this.#deps = deps
    this.#isAlone = !onRefused
    this.#onRefused = onRefused ?? (() => {})
  }

  takes(runId: string): boolean {
    const runs = new Set(Array.from(this.#members, (member) => member.runId))
    return runs.has(runId) || runs.size < (this.#isAlone ? 1 : RUNS_MAX)
  }

  add(member: RunSubscription): void {
    this.#members.add(member)
    member.report('connecting')
    const position = this.#open?.positions.get(member.runId)
    if (this.#open && position !== undefined && position <= member.cursor) {
      this.#open.served.add(member)
      if (this.#open.isLive) member.report('live')
    }
    this.#changed()
  }

  remove(member: RunSubscription): void {
    this.#members.delete(member)
    this.#full.delete(member)
    this.#open?.served.delete(member)
    this.#changed()
  }

  #changed(): void {
    this.#timer ??= this.#deps.env.timer(this.#open ? SETTLE_MS : 0, () => {
      this.#timer = null
      this.#follow()
    })
  }

  #follow(): void {
    const wanted = this.#wanted()
    if (wanted.length === 0) {
      this.#open?.end.abort()
      this.#open = null
    } else if (!this.#open) {
      this.#open = {
        end: new AbortController(),
        connection: new AbortController(),
        served: new Set(),
        positions: new Map(),
        isLive: false,
      }
      void this.#run(this.#open)
    } else if (!isServing(this.#open, wanted)) {
      this.#open.connection.abort()
    }
  }

  #wanted(): RunSubscription[] {
    return [...this.#members].filter((member) => !this.#full.has(member))
  }

  async #run(open: Open): Promise<void> {
    const { signal } = open.end
    try {
      for await (const message of messages(this.#deps, this.#follower(open))) {
        await this.#deliver(open, message)
        if (open.served.size === 0) break
      }
      if (!signal.aborted) this.#end([...open.served])
    } catch (error) {
      if (!signal.aborted) this.#refused(open, error as DurablyError)
    }
    if (this.#open !== open) return
    this.#open = null
    if (this.#wanted().length > 0) this.#changed()
  }

  #follower(open: Open): Follower {
    return {
      target: () => this.#target(open),
      onState: (state) => this.#report(open, state),
      onConnecting: (connection) => {
        open.connection = connection
      },
      signal: open.end.signal,
    }
  }

  /** For each run the connection begins at the smallest cursor of its subscribers. */
  #target(open: Open): Target | null {
    const wanted = this.#wanted()
    open.served = new Set(wanted)
    open.positions = new Map()
    open.isLive = false
    for (const { runId, cursor } of wanted) open.positions.set(runId, Math.min(cursor, open.positions.get(runId) ?? cursor))
    const runs = [...open.positions]
    const [first] = runs
    if (!first) return null
    if (runs.length > 1)
      return { path: `/events?${runs.map(([runId, after]) => `run=${encodeURIComponent(runId.toWellFormed())}:${after}`).join('&')}` }
    const [runId, after] = first
    return { path: `${runPath(runId, 'events')}${after > 0 ? `?after=${after}` : ''}`, runId }
  }

  #report(open: Open, state: ConnectionState): void {
    open.isLive = state === 'live'
    for (const member of open.served) member.report(state)
  }

  async #deliver(open: Open, { event, value, length }: ServerMessage): Promise<void> {
    switch (event) {
      case 'message':
        return this.#take(open, value as RunLogEvent, length)
      case 'done':
        return this.#over(open, value, (member) => ahead(open, member))
      case 'gone':
        return this.#over(open, value, gone)
      case 'denied':
        return this.#over(open, value, denied)
    }
  }

  /** The server sends no more events of a run. It names the run only if the connection has several. */
  #over(open: Open, value: unknown, errorOf: (member: RunSubscription) => DurablyError | undefined): void {
    const { runId } = value as { runId?: string }
    for (const member of open.served) if (runId === undefined || member.runId === runId) this.#end([member], errorOf(member))
    if (runId === undefined) open.positions.clear()
    else open.positions.delete(runId)
  }

  async #take(open: Open, event: RunLogEvent, length: number): Promise<void> {
    open.positions.set(event.runId, event.sequence)
    for (const member of open.served) {
      if (member.runId !== event.runId) continue
      member.take(event, length)
      if (!member.isFull) continue
      if (this.#members.size === 1) await unlessAborted(open.connection.signal, member.room())
      else this.#leaveOut(open, member)
    }
  }

  #leaveOut(open: Open, member: RunSubscription): void {
    open.served.delete(member)
    this.#full.add(member)
    this.#changed()
    void member.room().then(() => {
      if (this.#full.delete(member)) this.#changed()
    })
  }

  #end(members: readonly RunSubscription[], error?: DurablyError): void {
    for (const member of members) {
      member.end(error)
      this.#members.delete(member)
      this.#open?.served.delete(member)
    }
  }

  #refused(open: Open, error: DurablyError): void {
    const members = [...open.served]
    if (open.positions.size === 1 || error.code === 'forbidden') return this.#end(members, error)
    for (const member of members) this.#members.delete(member)
    this.#onRefused(members)
  }
}

/** The connection serves exactly the runs and subscribers that are wanted. */
function isServing({ served, positions }: Open, wanted: readonly RunSubscription[]): boolean {
  const runs = new Set(wanted.map(({ runId }) => runId))
  return wanted.every((member) => served.has(member)) && [...positions.keys()].every((runId) => runs.has(runId))
}

/** Every run has a first event, so a subscriber that has seen none never saw the run. */
function gone({ runId, cursor }: RunSubscription): DurablyError {
  return cursor > 0
    ? new DurablyError('run_deleted', `run ${runId} was deleted while it was subscribed to`, { runId })
    : new DurablyError('run_not_found', `there is no run ${JSON.stringify(runId)}`, { runId })
}

/** The server has checked only the smallest cursor of a run's subscribers; the others are checked at the end of the log. */
function ahead({ positions }: Open, { runId, cursor }: RunSubscription): DurablyError | undefined {
  const last = positions.get(runId) ?? cursor
  return cursor > last
    ? new DurablyError('cursor_ahead', `after is ${cursor}, but the log of run ${runId} ends at ${last}`, { runId })
    : undefined
}

function denied({ runId }: RunSubscription): DurablyError {
  return new DurablyError('forbidden', `run ${runId} may no longer be read`, { runId })
}
