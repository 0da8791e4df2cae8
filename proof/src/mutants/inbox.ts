// Mutants without a guard in the inbox and in the delivery of events.
import type { Mutant } from './mutant.ts'

const FILE = 'store/memory/inbox.ts'

export const INBOX_MUTANTS: Mutant[] = [
  {
    name: 'deposed-leader-delivers',
    guard: 'a delivery needs the epoch of the leader (N2)',
    file: FILE,
    find: "if (tables.leader?.epoch !== epoch) return { outcome: 'deposed' }",
    replace: "if ((tables.leader?.epoch ?? 0) < epoch) return { outcome: 'deposed' }",
  },
  {
    name: 'event-delivered-twice',
    guard:
      'a delivered event becomes no further runs: it is marked, and its runs have its key, also if a leader that was replaced gets so far (N1)',
    file: FILE,
    find: "if (!event || event.processedAt !== null) return { outcome: 'changed' }",
    replace: "if (!event) return { outcome: 'changed' }",
    also: [
      {
        file: FILE,
        find: 'if (tables.leader?.epoch !== epoch)',
        replace: 'if (tables.leader?.epoch !== epoch && event?.processedAt == null)',
      },
      { file: FILE, find: 'if (!tables.known.find({ ...run,', replace: 'if (!tables.known.find({ ...run, idempotencyKey: null,' },
    ],
  },
  {
    name: 'key-stored-twice',
    guard: 'a second event with a dedupe key is not stored (N3)',
    file: FILE,
    find: 'else if (holder && holder.id !== id)',
    replace: "else if (holder && holder.id === '')",
  },
  {
    name: 'undelivered-event-forgotten',
    guard: 'an event that was not delivered is not removed (N3)',
    file: FILE,
    find: 'processedAt !== null && processedAt <= tables.nowMs',
    replace: '(processedAt ?? 0) <= tables.nowMs',
  },
  {
    name: 'subscriptions-before-events',
    guard: 'subscriptions are read after the events (V1)',
    file: 'cluster/deliver-due.ts',
    find: `const events = await cluster.findEvents({ limit: EVENTS_PAGE })
  const jobs = events.length === 0 ? [] : await allDefinitions(cluster, { subscribed: true })`,
    replace: `const jobs = await allDefinitions(cluster, { subscribed: true })
  const events = await cluster.findEvents({ limit: EVENTS_PAGE })`,
  },
  {
    name: 'filter-ignored',
    guard: 'an event becomes runs of the jobs whose filter it matches',
    file: 'cluster/deliver-due.ts',
    find: 'name === event.name && matches(filter, codec.decode(event.data))',
    replace: 'name === event.name && matches({}, codec.decode(event.data)) && filter !== null',
  },
]
