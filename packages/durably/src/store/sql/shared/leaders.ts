// The election: one row that says who leads. The guard is in the statement that writes, and the read after it sees what became of it.
import { sql } from 'kysely'
import type { LeaderStore } from '../../cluster/leaders.ts'
import type { SqlDeps } from './deps.ts'
import { farAhead } from './guards.ts'
import type { Row } from './session.ts'

interface LeadValues {
  workerId: string
  token: string
  leaseMs: number
  now: number
}

export function sqlLeaders({ statement, session, env, tables: t, syntax }: SqlDeps): LeaderStore {
  const take = statement<LeadValues>((p) => {
    const now = syntax.now(p)
    const isMine = sql`l.token = ${p('token')}`
    return sql`${syntax.clock(p)} INSERT INTO ${t.leaders} AS l (name, epoch, worker_id, token, elected_at, expires_at)
      VALUES ('leader', 1, ${p('workerId')}, ${p('token')}, ${now}, ${now} + ${p('leaseMs')})
      ON CONFLICT (name) DO UPDATE SET epoch = CASE WHEN ${isMine} THEN l.epoch ELSE l.epoch + 1 END, worker_id = excluded.worker_id,
        token = excluded.token, elected_at = CASE WHEN ${isMine} THEN l.elected_at ELSE excluded.elected_at END, expires_at = excluded.expires_at
      WHERE ${isMine} OR l.expires_at <= ${now} OR l.expires_at > ${farAhead(now)}`
  })
  const read = statement<{ now: number }>(
    (p) => sql`${syntax.clock(p)} SELECT l.*, l.expires_at - ${syntax.now(p)} AS expires_in FROM ${t.leaders} AS l WHERE l.name = 'leader'`,
  )
  const giveUp = statement<{ epoch: number; now: number }>(
    (p) => sql`${syntax.clock(p)} UPDATE ${t.leaders} SET expires_at = ${syntax.now(p)} WHERE name = 'leader' AND epoch = ${p('epoch')}`,
  )

  return {
    async lead(request) {
      const now = env.wall()
      const [, [row] = []] = await session.write([take({ ...request, now }), read({ now })])
      return { epoch: row?.token === request.token ? Number(row.epoch) : null, expiresInMs: Math.max(0, Number(row?.expires_in ?? 0)) }
    },
    async resign(epoch) {
      await session.write([giveUp({ epoch, now: env.wall() })])
    },
    async leader() {
      const [row] = await session.read(read({ now: env.wall() }))
      return row ? leaderOf(row) : null
    },
  }
}

function leaderOf(row: Row) {
  return {
    epoch: Number(row.epoch),
    workerId: String(row.worker_id),
    electedAt: Number(row.elected_at),
    expiresAt: Number(row.expires_at),
    expiresInMs: Number(row.expires_in),
  }
}
