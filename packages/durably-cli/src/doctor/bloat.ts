import { existsSync, statSync } from 'node:fs'
import { sql } from 'kysely'
import { shellWord } from '../shell-word.ts'
import { type Check, type Finding, ok, type Patient, warn } from './finding.ts'

const MIB = 1024 * 1024
/** Below this nobody minds. */
const SIZE_MIN = 50 * MIB
const UNUSED_MAX = 0.5
const OLD_DAYS = 30
const OLD_RUNS_MAX = 100_000

export const checkBloat: Check = (patient) => (patient.place.kind === 'sqlite' ? sqliteBloat(patient) : postgresBloat(patient))

/** Runs that ended long ago and that nothing removes. */
export const checkRetention: Check = async ({ durably, tables, nowMs, commands }) => {
  const { rows } = await sql<{ count: number | string }>`SELECT count(*) AS count FROM (SELECT 1 FROM ${tables('runs')}
    WHERE finished_at < ${nowMs - OLD_DAYS * 86_400_000} LIMIT ${OLD_RUNS_MAX}) AS old`.execute(durably.db)
  const count = Number(rows[0]?.count ?? 0)
  if (count < OLD_RUNS_MAX) return ok('old runs', `${count} ended more than ${OLD_DAYS} days ago`)
  return warn(
    'old runs',
    `${count} or more ended more than ${OLD_DAYS} days ago`,
    `${commands.purge(`${OLD_DAYS}d`)}\nand give the workers a retention`,
  )
}

async function sqliteBloat({ durably, place }: Patient): Promise<Finding> {
  const read = async (pragma: string) =>
    Number(Object.values((await sql.raw<Record<string, number>>(`PRAGMA ${pragma}`).execute(durably.db)).rows[0] ?? {})[0] ?? 0)
  const [pages, free, pageSize] = [await read('page_count'), await read('freelist_count'), await read('page_size')]
  const size = pages * pageSize
  const wal = existsSync(`${place.at}-wal`) ? statSync(`${place.at}-wal`).size : 0
  const shown = `${mib(size)} MiB, ${mib(free * pageSize)} of them unused; write-ahead log ${mib(wal)} MiB`
  if (wal > Math.max(SIZE_MIN, size))
    return warn('bloat', shown, 'a reader keeps a transaction open, so the log cannot be written back: find it and end it')
  if (size > SIZE_MIN && free / pages > UNUSED_MAX)
    return warn('bloat', shown, `stop the workers and run: sqlite3 ${shellWord(place.at)} VACUUM`)
  return ok('bloat', shown)
}

async function postgresBloat({ durably, place }: Patient): Promise<Finding> {
  const { schema, tablePrefix = '' } = place
  const { rows } = await sql<{
    name: string
    size: string
    live: string
    dead: string
  }>`SELECT relname AS name, pg_total_relation_size(relid) AS size,
      n_live_tup AS live, n_dead_tup AS dead FROM pg_stat_user_tables
    WHERE schemaname = coalesce(${schema ?? null}, current_schema()) AND relname IN (${sql.join(['runs', 'steps', 'run_events', 'logs'].map((name) => tablePrefix + name))})`.execute(
    durably.db,
  )
  const size = rows.reduce((sum, row) => sum + Number(row.size), 0)
  const bloated = rows.filter(({ size, live, dead }) => Number(size) > SIZE_MIN && Number(dead) > Number(live))
  if (bloated.length === 0) return ok('bloat', `${mib(size)} MiB, most rows are alive`)
  const names = bloated.map(({ name }) => name).join(', ')
  return warn(
    'bloat',
    `${names}: more dead rows than live ones`,
    `VACUUM (ANALYZE) ${names}; a long transaction may keep autovacuum from it, see connections`,
  )
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}
