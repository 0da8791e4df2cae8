// Delivering an event, in one statement, which decides by the rows that it has locked (PG1): the leader's, so that nobody takes the lead
// before the commit, then the event's.
import { sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { InboxStore } from '../../cluster/inbox.ts'
import { deliveryOutcome } from '../shared/delivery-outcome.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import type { Param } from '../shared/statement.ts'

interface DeliveryValues {
  id: string
  epoch: number
  ids: string[]
  jobs: string[]
  keys: string[]
  createdAts: string[]
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
  runRow,
}: LazyDeps): Pick<InboxStore, 'deliverEvent'> {
  const events = (p: Param<DeliveryValues>) =>
    eventLog ? sql`, events AS (INSERT INTO ${into.events} SELECT id, 1, 'run:trigger', '{}', ${p('at')} FROM created)` : sql``
  const deliver = statement<DeliveryValues>(
    (p) => sql`${syntax.clock(p)},
      elected AS MATERIALIZED (SELECT epoch FROM ${t.leaders} WHERE name = 'leader' FOR SHARE),
      i AS MATERIALIZED (SELECT * FROM ${t.inbox} WHERE id = ${p('id')} AND (SELECT count(*) FROM elected) >= 0 FOR NO KEY UPDATE),
      fit AS MATERIALIZED (SELECT i.* FROM i CROSS JOIN elected WHERE elected.epoch = ${p('epoch')} AND i.processed_at IS NULL),
      given AS (SELECT * FROM unnest(${p('ids')}::text[], ${p('jobs')}::text[], ${p('keys')}::text[], ${p('createdAts')}::text[]) WITH ORDINALITY
        AS g(id, job_name, idempotency_key, created_at, position)),
      created AS (INSERT INTO ${t.runs} (id, job_name, payload, idempotency_key, created_at, heartbeat_at, updated_at, status, run_at, unchecked, last_event_sequence)
        SELECT g.id, g.job_name, fit.data, g.idempotency_key, g.created_at, g.created_at, g.created_at, 'pending', ${syntax.now(p)}, 1, 1
        FROM given AS g CROSS JOIN fit ORDER BY g.position ON CONFLICT DO NOTHING RETURNING *)${events(p)},
      moved AS (UPDATE ${t.inbox} AS i SET processed_at = ${syntax.now(p)}, leader_epoch = ${p('epoch')}, data = NULL FROM fit WHERE i.id = fit.id RETURNING i.id)
      SELECT (SELECT count(*) FROM moved) AS moved, (SELECT epoch FROM elected) AS leads, i.processed_at AS i_processed_at, i.leader_epoch AS i_leader_epoch, r.*
      FROM (SELECT 1) AS one LEFT JOIN i ON true
        LEFT JOIN (SELECT * FROM created UNION ALL SELECT * FROM ${t.runs} WHERE id = ANY(${p('ids')}::text[])) AS r ON true`,
  )

  return {
    async deliverEvent(delivery) {
      const { epoch, eventId, runs } = delivery
      const now = env.wall()
      const columns = {
        ids: runs.map((run) => run.id),
        jobs: runs.map((run) => run.jobName),
        keys: runs.map((run) => run.idempotencyKey),
        createdAts: runs.map((run) => run.createdAt),
      }
      const [rows = []] = await session.write([deliver({ id: eventId, epoch, ...columns, now, at: iso(now) })])
      const [first] = rows
      const state = { epoch: first?.leads, processed_at: first?.i_processed_at, leader_epoch: first?.i_leader_epoch }
      const found = rows.filter((row) => row.id !== null).map(runRow)
      return deliveryOutcome(delivery, Number(first?.moved) > 0, state, found)
    },
  }
}
