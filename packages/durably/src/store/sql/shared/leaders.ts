// The election: one row that says who leads. The guard is in the statement that writes, and the read after it sees what became of it.
import { sql } from 'kysely'
import type { LeaderStore } from '../../cluster/leaders.ts'
import { forgetOld } from './audit.ts'
import type { SqlDeps } from './deps.ts'
import { isOver } from './guards.ts'
import type { Row } from './session.ts'
import { setting } from './setting.ts'

interface LeadValues {
  workerId: string
  token: string
  leaseMs: number
  now: number
}

export function sqlLeaders(deps: SqlDeps): LeaderStore {
  const { statement, session, env, tables: t, syntax } = deps
  const take = statement<LeadValues>((p) => {
    const now = syntax.now(p)
    const isMine = sql`l.token = ${p('token')}`
    const leaseMs = setting(deps, 'leaderLeaseMs', p('leaseMs'))
    return sql`${syntax.clock(p)} INSERT INTO ${t.leaders} AS l (name, epoch, worker_id, token, elected_at, expires_at)
      VALUES ('leader', 1, ${p('workerId')}, ${p('token')}, ${now}, ${now} + ${leaseMs})
      ON CONFLICT (name) DO UPDATE SET epoch = CASE WHEN ${isMine} THEN l.epoch ELSE l.epoch + 1 END, worker_id = excluded.worker_id,
        token = excluded.token, elected_at = CASE WHEN ${isMine} THEN l.elected_at ELSE excluded.elected_at END, expires_at = excluded.expires_at
      WHERE ${isMine} OR ${isOver(sql`l.expires_at`, now, sql`2 * ${leaseMs}`)}`
  })
  const read = statement<{ now: number }>(
    (p) => sql`${syntax.clock(p)} SELECT l.*, l.expires_at - ${syntax.now(p)} AS expires_in FROM ${t.leaders} AS l WHERE l.name = 'leader'`,
  )
  /**
   * Named after its epoch, which belongs to one process (E1), so it is stored once. It is sent with every renewal: a leader may not know that another one
   * led meanwhile, and that it is elected anew.
   */
  const record = statement<{ token: string }>(
    (p) => sql`INSERT INTO ${t.audit} (id, created_at, actor, action, target_kind, target_id, version)
      SELECT 'leader:' || l.epoch, l.elected_at, l.worker_id, 'leader:elect', 'leader', 'leader', l.epoch FROM ${t.leaders} AS l
      WHERE l.name = 'leader' AND l.token = ${p('token')} ON CONFLICT DO NOTHING`,
  )
  const forget = statement<{ now: number }>((p) => sql`${syntax.clock(p)} ${forgetOld(deps, p)}`)
  const giveUp = statement<{ epoch: number; now: number }>(
    (p) => sql`${syntax.clock(p)} UPDATE ${t.leaders} SET expires_at = ${syntax.now(p)} WHERE name = 'leader' AND epoch = ${p('epoch')}`,
  )

  return {
    async lead(request) {
      const now = env.wall()
      const answers = await session.write([take({ ...request, now }), record(request), forget({ now }), read({ now })])
      const [row] = answers.at(-1) ?? []
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
