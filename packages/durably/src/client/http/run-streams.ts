// RunStreams — all subscriptions of a client. They share as few connections as the server allows; a run that made the server refuse a shared
// connection gets one of its own.
import type { RunLogEvent } from '../../model/event.ts'
import type { FollowOptions } from '../durably-client.ts'
import type { EventSourceDeps } from './event-source.ts'
import { RunSubscription } from './run-subscription.ts'
import { SharedConnection } from './shared-connection.ts'

export class RunStreams {
  readonly #deps: EventSourceDeps
  readonly #connections: SharedConnection[] = []
  readonly #places = new Map<RunSubscription, SharedConnection>()

  constructor(deps: EventSourceDeps) {
    this.#deps = deps
  }

  async *events(
    runId: string,
    after: number,
    onConnection: FollowOptions['onConnection'],
    closed: AbortSignal,
  ): AsyncGenerator<RunLogEvent, void> {
    const member = new RunSubscription(runId, after, onConnection)
    this.#place(member, this.#connectionFor(runId))
    try {
      for (let event = await member.next(closed); event; event = await member.next(closed)) yield event
    } finally {
      this.#places.get(member)?.remove(member)
      this.#places.delete(member)
    }
  }

  #place(member: RunSubscription, connection: SharedConnection): void {
    this.#places.set(member, connection)
    connection.add(member)
  }

  #connectionFor(runId: string): SharedConnection {
    const known = this.#connections.find((connection) => connection.takes(runId))
    if (known) return known
    const connection = new SharedConnection(this.#deps, (refused) => this.#separate(refused))
    this.#connections.push(connection)
    return connection
  }

  /** The server does not say which run it refused, so each run gets a connection of its own. */
  #separate(members: readonly RunSubscription[]): void {
    const alone = new Map<string, SharedConnection>()
    for (const member of members) {
      const connection = alone.get(member.runId) ?? new SharedConnection(this.#deps)
      alone.set(member.runId, connection)
      this.#place(member, connection)
    }
  }
}
