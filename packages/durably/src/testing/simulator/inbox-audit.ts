// InboxAudit — stands before the chapter of the cluster in a simulated world of events, and checks each write to it, one at a time.
//   I50. An event gets at most one run of a job, also after that run was deleted, and only of jobs whose subscription matches.
//   I51. A delivery takes effect only with the epoch of the leader.
//   I52. A job whose subscription was stored before the event has a run of it. Of the events with one dedupe key, one is stored.
import type { EventSubscription } from '../../model/subscription.ts'
import type { ClusterStore } from '../../store/cluster/cluster.ts'
import type { NewDefinition } from '../../store/cluster/definitions.ts'
import type { Delivery, DeliveryOutcome, NewEvent, PutEventOutcome } from '../../store/cluster/inbox.ts'
import type { LeadOutcome } from '../../store/cluster/leaders.ts'
import type { Violation } from '../invariants/index.ts'

interface SeenEvent extends NewEvent {
  /** The jobs that must get it: those that subscribed when it was stored. */
  owed: string[]
  isDelivered: boolean
  /** The ids of its runs, by job. */
  runs: Map<string, string>
}

export class InboxAudit {
  readonly violations: Violation[] = []
  readonly events = new Map<string, SeenEvent>()
  /** How many deliveries of processes that led no more were refused. */
  refused = 0
  readonly #inner: ClusterStore
  readonly #jobs = new Map<string, NewDefinition>()
  #turn: Promise<unknown> = Promise.resolve()
  #epoch = 0

  constructor(inner: ClusterStore) {
    this.#inner = inner
  }

  over(): ClusterStore {
    const inner = this.#inner
    return new Proxy(inner, {
      get: (_, verb) => {
        const invoke = Reflect.get(inner, verb) as (...args: unknown[]) => Promise<unknown>
        return (...args: unknown[]) => this.#alone(async () => this.#applied(String(verb), args[0], await invoke(...args)))
      },
    })
  }

  #alone<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(act)
    this.#turn = done.catch(() => {})
    return done
  }

  #applied(verb: string, request: unknown, answer: unknown): unknown {
    if (verb === 'lead') this.#epoch = (answer as LeadOutcome).epoch ?? this.#epoch
    if (verb === 'putDefinitions') for (const job of request as NewDefinition[]) this.#jobs.set(job.name, job)
    if (verb === 'putEvent') this.#sent(request as NewEvent, answer as PutEventOutcome)
    if (verb === 'deliverEvent') this.#delivered(request as Delivery, answer as DeliveryOutcome)
    return answer
  }

  #sent(event: NewEvent, { outcome }: PutEventOutcome): void {
    if (outcome === 'known' || this.events.has(event.id)) return
    const { dedupeKey } = event
    const first = dedupeKey === null ? undefined : Array.from(this.events.values()).find((other) => other.dedupeKey === dedupeKey)
    if (first) this.#broken('I52', `event ${event.id} is stored beside ${first.id}, which has its key ${dedupeKey}`)
    this.events.set(event.id, { ...event, owed: this.#subscribers(event), isDelivered: false, runs: new Map() })
  }

  #delivered({ epoch, eventId }: Delivery, answer: DeliveryOutcome): void {
    if (answer.outcome === 'deposed') this.refused++
    const event = this.events.get(eventId)
    if (answer.outcome !== 'delivered' || !event) return
    if (!event.isDelivered)
      this.#first(
        event,
        epoch,
        answer.runs.map(({ jobName }) => jobName),
      )
    event.isDelivered = true
    for (const { id, jobName } of answer.runs) {
      const known = event.runs.get(jobName)
      if (known !== undefined && known !== id) this.#broken('I50', `event ${eventId} got run ${id} of ${jobName} beside ${known}`)
      event.runs.set(jobName, id)
    }
  }

  #first(event: SeenEvent, epoch: number, jobs: readonly string[]): void {
    if (epoch !== this.#epoch) this.#broken('I51', `event ${event.id} was delivered as epoch ${epoch}, but epoch ${this.#epoch} leads`)
    const missing = event.owed.filter((job) => !jobs.includes(job))
    if (missing.length > 0) this.#broken('I52', `event ${event.id} has no run of ${missing}`)
    const may = this.#subscribers(event)
    const others = jobs.filter((job) => !may.includes(job))
    if (others.length > 0) this.#broken('I50', `event ${event.id} has a run of ${others}, which did not subscribe to it`)
  }

  /** By a comparison of its own: the filters of these worlds have one key. */
  #subscribers({ name, data }: NewEvent): string[] {
    const isFor = ({ event, filter = {} }: EventSubscription) =>
      event === name &&
      Object.entries(filter).every(([key, value]) => (JSON.parse(data ?? 'null') as Record<string, unknown>)[key] === value)
    const isSubscribed = ({ subscriptions }: NewDefinition) => (JSON.parse(subscriptions ?? '[]') as EventSubscription[]).some(isFor)
    return Array.from(this.#jobs.values())
      .filter(isSubscribed)
      .map((job) => job.name)
  }

  #broken(invariant: string, what: string): void {
    this.violations.push({ invariant, runId: null, what })
  }
}
