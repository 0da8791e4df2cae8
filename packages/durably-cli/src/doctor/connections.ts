import { sql } from 'kysely'
import { counted } from '../output/plural.ts'
import { type Check, ok, warn } from './finding.ts'

const USED_MAX = 0.8
const IDLE_IN_TRANSACTION_S = 60

/** How many connections the server has, who holds them, and whether somebody holds a transaction open. */
export const checkConnections: Check = async ({ durably, place, nowMs }) => {
  if (place.kind === 'sqlite') return ok('connections', 'a SQLite file has no limit')
  const { rows } = await sql<{ max: number; used: string; ours: string; idle: string }>`SELECT
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS max, count(*) AS used,
      count(*) FILTER (WHERE application_name LIKE 'durably%') AS ours,
      count(*) FILTER (WHERE state LIKE 'idle in transaction%' AND state_change < to_timestamp(${nowMs / 1000 - IDLE_IN_TRANSACTION_S}::float8)) AS idle
    FROM pg_stat_activity WHERE backend_type = 'client backend'`.execute(durably.db)
  const { max = 0, used = 0, ours = 0, idle = 0 } = rows[0] ?? {}
  const shown = `${used} of ${max} are used, ${ours} of them by Durably`
  if (Number(idle) > 0)
    return warn(
      'connections',
      `${shown}; ${counted(Number(idle), 'sits', 'sit')} in a transaction for more than ${IDLE_IN_TRANSACTION_S} s`,
      "end them, and set idle_in_transaction_session_timeout = '60s'",
    )
  if (Number(used) > USED_MAX * max)
    return warn(
      'connections',
      shown,
      'lower postgres(url, { max }), which is 10 for each process plus one to listen, or raise max_connections',
    )
  return ok('connections', shown)
}
