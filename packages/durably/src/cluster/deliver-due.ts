// Delivers the events of the inbox, as the leader. Each delivery is one write, which the store refuses if anything was otherwise than here.
//   V1. Subscriptions are read after the events, so a job whose subscription was stored before an event was sent gets the event.
//   V2. An event has at most one run of a job, however many of its subscriptions match.
import type { Codec } from '../model/codec.ts'
import { iso } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { matches } from '../model/matches.ts'
import type { EventSubscription } from '../model/subscription.ts'
import { timeOfId } from '../model/ulid.ts'
import type { DefinitionRow } from '../store/cluster/definitions.ts'
import type { EventRun, InboxEvent } from '../store/cluster/inbox.ts'
import { allDefinitions } from './all-definitions.ts'
import type { FireDeps } from './fire-due.ts'
import { isLasting, withPlace } from './is-lasting.ts'

/** How many events are delivered before the worker looks for other work. They are read with their data, which may be large. */
const EVENTS_PAGE = 20
/** How many old events are removed after these: more than come in, so that they do not pile up. */
const FORGET_PAGE = 100

export interface DeliverDeps extends FireDeps {
  codec: Codec
}

/** `delivered`: how many events. `isDeposed`: another process leads. */
export async function deliverDue(deps: DeliverDeps, epoch: number): Promise<{ delivered: number; isDeposed: boolean }> {
  const { cluster, env, runEvents, report } = deps
  const events = await cluster.findEvents({ limit: EVENTS_PAGE })
  const jobs = events.length === 0 ? [] : await allDefinitions(cluster, { subscribed: true })
  let delivered = 0
  for (const event of events) {
    const runs = jobsFor(deps, event, jobs).map((jobName): EventRun => {
      const id = env.id()
      return { id, jobName, idempotencyKey: `event:${event.id}`, createdAt: iso(timeOfId(id)) }
    })
    const answer = await cluster.deliverEvent({ epoch, eventId: event.id, runs }).catch((error: unknown) => {
      if (!isLasting(error)) throw error
      // Others must not wait for it.
      report(withPlace(`event ${event.id} cannot be delivered`, error))
      return null
    })
    if (answer?.outcome === 'deposed') return { delivered, isDeposed: true }
    if (answer?.outcome !== 'delivered') continue
    delivered++
    for (const run of answer.runs) runEvents.emit('run:trigger', () => ({ run }))
  }
  if (delivered > 0) await cluster.forgetEvents(FORGET_PAGE)
  return { delivered, isDeposed: false }
}

function jobsFor({ codec, report }: DeliverDeps, event: InboxEvent, jobs: readonly DefinitionRow[]): string[] {
  const isFor = ({ subscriptions }: DefinitionRow) =>
    (JSON.parse(subscriptions ?? '[]') as EventSubscription[]).some(
      ({ event: name, filter = {} }) => name === event.name && matches(filter, codec.decode(event.data)),
    )
  return jobs
    .filter((job) => {
      try {
        return isFor(job)
      } catch (cause) {
        // Others must not wait for it.
        const what = `whether job ${JSON.stringify(job.name)} gets event ${event.id}`
        report(new DurablyError('row_unreadable', `${what} cannot be read, so it does not: ${(cause as Error).message}`, { cause }))
        return false
      }
    })
    .map(({ name }) => name)
}
