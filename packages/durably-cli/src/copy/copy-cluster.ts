import { sql } from 'kysely'
import { type CopyDeps, compare } from './copy-runs.ts'
import { fenceSchedules, movedRows } from './fence.ts'
import type { Row } from './row.ts'
import { insert, rowsById } from './tables.ts'

const SCHEDULES_MAX = 100_000

/** Returns how many schedules there are now that came from the source. */
export async function copyCluster(deps: Pick<CopyDeps, 'source' | 'target' | 'checksum'>): Promise<number> {
  const { source, target, checksum } = deps
  await fenceSchedules(source)
  const moved = (await movedRows(source, 'schedule', '', SCHEDULES_MAX)).map(({ row }) => row)
  const leaders = (await sql<Row>`SELECT * FROM leaders`.execute(source)).rows.map((row) => ({ ...row, expires_at: 0 }))
  await target.transaction().execute(async (trx) => {
    const known = new Set(
      (
        await rowsById(
          trx,
          'schedules',
          moved.map(({ id }) => String(id)),
        )
      ).map(({ id }) => id),
    )
    const fresh = moved.filter(({ id }) => !known.has(id))
    await insert(trx, 'schedules', fresh)
    compare(
      'schedules',
      fresh,
      await rowsById(
        trx,
        'schedules',
        fresh.map(({ id }) => String(id)),
      ),
      checksum,
    )
    const { rows } = await sql`SELECT 1 FROM leaders`.execute(trx)
    if (rows.length === 0) await insert(trx, 'leaders', leaders)
  })
  return moved.length
}
