// Delivering an event. In the batch the guards read the rows as they were: the event is written last.
import { sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { InboxStore } from '../../cluster/inbox.ts'
import { deliveryOutcome } from '../shared/delivery-outcome.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import type { Param } from '../shared/statement.ts'

interface DeliveryValues {
  id: string
  epoch: number
  rows: string
  now: number
  at: string
}

export function deliverEvents({
  statement,
  session,
  env,
  tables: t,
  into,
  syntax,
  eventLog,
  jsonRows,
  runRow,
}: LazyDeps): Pick<InboxStore, 'deliverEvent'> {
  /** N1 and N2, of the event `i`. */
  const mayDeliver = (p: Param<DeliveryValues>) => sql`i.id = ${p('id')} AND i.processed_at IS NULL
    AND EXISTS (SELECT 1 FROM ${t.leaders} WHERE name = 'leader' AND epoch = ${p('epoch')})`
  const insertRuns = statement<DeliveryValues>(
    (
      p,
    ) => sql`INSERT INTO ${t.runs} (id, job_name, payload, idempotency_key, created_at, heartbeat_at, updated_at, status, run_at, unchecked, last_event_sequence)
      SELECT e.value ->> 0, e.value ->> 1, i.data, e.value ->> 2, e.value ->> 3, e.value ->> 3, e.value ->> 3, 'pending', ${p('now')}, 1, 1
      FROM ${syntax.elements(p('rows'))} AS e CROSS JOIN ${t.inbox} AS i WHERE ${mayDeliver(p)} ON CONFLICT DO NOTHING`,
  )
  /** Only runs that have their own id were inserted, now or the first time; then their first event is there already. */
  const insertEvents = statement<DeliveryValues>(
    (p) => sql`INSERT INTO ${into.events} SELECT r.id, 1, 'run:trigger', '{}', ${p('at')}
      FROM ${syntax.elements(p('rows'))} AS e CROSS JOIN ${t.runs} AS r WHERE r.id = e.value ->> 0 ON CONFLICT DO NOTHING`,
  )
  /** The runs have the data now. */
  const mark = statement<DeliveryValues>(
    (p) =>
      sql`UPDATE ${t.inbox} AS i SET processed_at = ${p('now')}, leader_epoch = ${p('epoch')}, data = NULL WHERE ${mayDeliver(p)} RETURNING id`,
  )
  const selectState = statement<DeliveryValues>(
    (p) =>
      sql`SELECT (SELECT epoch FROM ${t.leaders} WHERE name = 'leader') AS epoch, i.processed_at, i.leader_epoch FROM (SELECT 1) LEFT JOIN ${t.inbox} AS i ON i.id = ${p('id')}`,
  )
  const selectRuns = statement<DeliveryValues>(
    (p) => sql`SELECT r.* FROM ${syntax.elements(p('rows'))} AS e CROSS JOIN ${t.runs} AS r WHERE r.id = e.value ->> 0`,
  )

  return {
    async deliverEvent(delivery) {
      const { epoch, eventId, runs } = delivery
      const now = env.wall()
      const rows = jsonRows(runs.map((run) => [run.id, run.jobName, run.idempotencyKey, run.createdAt]))
      const values = { id: eventId, epoch, rows, now, at: iso(now) }
      const events = eventLog ? [insertEvents(values)] : []
      const answers = await session.write([insertRuns(values), ...events, mark(values), selectState(values), selectRuns(values)])
      const [moved = [], state = [], found = []] = answers.slice(-3)
      return deliveryOutcome(delivery, moved.length > 0, state[0], found.map(runRow))
    },
  }
}
