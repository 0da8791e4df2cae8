// A store with many runs that have ended. One is really executed; the others are copies of its row under other ids, whatever its
// columns are. Their steps and events are not copied.
import { sql } from 'kysely'
import { createDurably } from '../../../packages/durably/dist/index.js'
import { postgres } from '../../../packages/durably/dist/postgres/index.js'
import { sqlite } from '../../../packages/durably/dist/sqlite/index.js'
import { anything } from '../anything.ts'
import { onSqlite, type Place } from './place.ts'

export async function finishedRuns(place: Place, count: number): Promise<Place> {
  const onPostgres = place.kind === 'postgres'
  const durably = createDurably({ dialect: onPostgres ? postgres(place.url) : sqlite(onSqlite(place).file), notifications: false })
  await durably.migrate()
  // The name of the runs that are measured beside them, so that no index tells them apart.
  const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
  await job.trigger({ i: 0 })
  await durably.processUntilIdle()
  const [row] = await durably.db.selectFrom('runs').selectAll().execute()
  const others = Object.keys(row ?? {}).filter((column) => column !== 'id')
  const columns = sql.join(others.map((column) => sql.ref(column)))
  const id = onPostgres ? sql`lpad(i::text, 26, '0')` : sql`printf('%026d', i)`
  await sql`
    INSERT INTO runs (id, ${columns})
    WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${sql.lit(count)})
    SELECT ${id}, ${columns} FROM numbers, (SELECT * FROM runs) AS run`.execute(durably.db)
  if (onPostgres) await sql`VACUUM ANALYZE`.execute(durably.db)
  else await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(durably.db)
  await durably[Symbol.asyncDispose]()
  return place
}
