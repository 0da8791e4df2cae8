// Copies what belongs to no run: schedules, events, what workers said of their jobs, settings, the audit, and the epoch of the leader.
import { sql } from 'kysely'
import { type CopyDeps, compare } from './copy-runs.ts'
import { movedRows } from './fence.ts'
import type { Row } from './row.ts'
import { insert, rowsByKey } from './tables.ts'

const BATCH = 500

type Deps = Pick<CopyDeps, 'source' | 'target' | 'checksum'>

/** Returns how many schedules and events came from the source, in this call or before. */
export async function copyCluster(deps: Deps): Promise<{ schedules: number; events: number }> {
  const { source, target } = deps
  const schedules = await copyMoved(deps, 'schedule', 'schedules')
  const moved = await copyMoved(deps, 'event', 'inbox')
  const delivered = await copyTable(deps, 'inbox', 'id')
  await copyTable(deps, 'job_definitions', 'name')
  await copyTable(deps, 'settings', 'name')
  await copyTable(deps, 'audit', 'id')
  const leaders = (await sql<Row>`SELECT * FROM leaders`.execute(source)).rows.map((row) => ({ ...row, expires_at: 0 }))
  const known = await sql`SELECT 1 FROM leaders`.execute(target)
  if (known.rows.length === 0) await insert(target, 'leaders', leaders)
  return { schedules, events: moved + delivered }
}

async function copyMoved(deps: Deps, kind: 'schedule' | 'event', table: string): Promise<number> {
  let count = 0
  for (let after = ''; ; ) {
    const moved = await movedRows(deps.source, kind, after, BATCH)
    const last = moved.at(-1)
    if (!last) return count
    count += await copyFresh(
      deps,
      table,
      'id',
      moved.map(({ row }) => row),
    )
    after = last.id
  }
}

async function copyTable(deps: Deps, table: string, key: 'id' | 'name'): Promise<number> {
  let count = 0
  for (let after = ''; ; ) {
    const { rows } = await sql<Row>`SELECT * FROM ${sql.table(table)} WHERE ${sql.ref(key)} > ${after}
      AND ${sql.ref(key)} NOT IN (SELECT id FROM moved_rows WHERE kind = 'event') ORDER BY ${sql.ref(key)} LIMIT ${BATCH}`.execute(
      deps.source,
    )
    const last = rows.at(-1)
    if (!last) return count
    count += await copyFresh(deps, table, key, rows)
    after = String(last[key])
  }
}

/** Rows that are there already came with an earlier call, or were made there since. */
async function copyFresh({ target, checksum }: Deps, table: string, key: 'id' | 'name', rows: readonly Row[]): Promise<number> {
  const keysOf = (some: readonly Row[]) => some.map((row) => String(row[key]))
  return target.transaction().execute(async (trx) => {
    const known = new Set(keysOf(await rowsByKey(trx, table, key, keysOf(rows))))
    const fresh = rows.filter((row) => !known.has(String(row[key])))
    await insert(trx, table, fresh)
    compare(table, fresh, await rowsByKey(trx, table, key, keysOf(fresh)), checksum)
    return rows.length
  })
}
