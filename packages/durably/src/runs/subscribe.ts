// Subscription — the events of a run, from a place in its log to its end.
import type { FollowDeps, FollowStart } from '../events/followed-logs.ts'
import { followedLogs } from '../events/lazy-followed-logs.ts'
import { checkSubscription } from '../model/check-subscription.ts'
import { DurablyError } from '../model/errors.ts'
import type { RunLogEvent } from '../model/event.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { type Pulled, pulled } from '../model/pulled.ts'

/** The options of `subscribe`. */
export interface SubscribeOptions {
  /** The `sequence` of the last event that you have seen: events after it follow. Default 0: from the first event. */
  after?: number
  /** Ends the subscription: reading it then rejects with the signal's reason. */
  signal?: AbortSignal
}

const SUBSCRIBE_OPTIONS: KeysOf<SubscribeOptions> = { after: 1, signal: 1 }

/** The events of a run, as a `ReadableStream` that can also be read with `for await`. */
export type Subscription = Pulled<RunLogEvent>

export function subscribe(deps: FollowDeps, runId: string, options: SubscribeOptions = {}): Subscription {
  checkKeys('subscribe', options, SUBSCRIBE_OPTIONS)
  const { after = 0, signal } = options
  checkSubscription(runId, after)
  if (!deps.store.eventLog) throw new DurablyError('event_log_off', 'there is nothing to subscribe to: eventLog is false')
  return pulled((closed) => eventsOf(deps, { runId, after }, closed), signal)
}

async function* eventsOf(deps: FollowDeps, start: FollowStart, closed: AbortSignal): AsyncGenerator<RunLogEvent, void> {
  const { FollowedLogs } = await followedLogs(deps.env)
  // A caller may take a page of events and never ask for the next one; then nothing would end a watch between pages.
  const logs = new FollowedLogs(deps, [start], { watchesBetweenPages: false })
  try {
    for (;;) {
      const followed = await logs.next(closed)
      if (!followed || 'ended' in followed) return
      yield* followed.events
    }
  } finally {
    logs.close()
  }
}
