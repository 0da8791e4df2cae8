// Copies runs with everything that belongs to them, a batch in a transaction of the target. What was inserted is read back and compared before the commit.
import { sql } from 'kysely'
import { CliError } from '../exit-code.ts'
import { arrivedRun, releaseEvent } from './arrived.ts'
import { type Moved, movedRows } from './fence.ts'
import { type Checksum, printOf, type Row } from './row.ts'
import { type Database, insert, OF_RUNS, rowsByKey, rowsOfRuns } from './tables.ts'

const BATCH = 200

export interface CopyDeps {
  source: Database
  target: Database
  now: () => number
  /** Of all rows that were copied in this call. */
  checksum: Checksum
  onCopied: (runs: number) => void
}

/** Runs that ended by themselves: nothing changes them any more. */
export async function copyEndedRuns(deps: CopyDeps): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<Row & { id: string }>`SELECT * FROM runs WHERE status NOT IN ('pending', 'running') AND id > ${after}
      AND id NOT IN (SELECT id FROM moved_rows WHERE kind = 'run') ORDER BY id LIMIT ${BATCH}`.execute(deps.source)
    const last = rows.at(-1)
    if (!last) return
    await copyBatch(deps, rows, () => [])
    after = last.id
  }
}

/** Runs that were fenced, as they were before. */
export async function copyMovedRuns(deps: CopyDeps): Promise<void> {
  for (let after = ''; ; ) {
    const moved: Moved[] = await movedRows(deps.source, 'run', after, BATCH)
    const last = moved.at(-1)
    if (!last) return
    const nowMs = deps.now()
    const before = new Map(moved.map(({ id, row }) => [id, row]))
    const arrived = moved.map(({ row }) => arrivedRun(row, nowMs))
    await copyBatch(deps, arrived, (ids) => ids.flatMap((id) => releaseEvent(before.get(id) ?? {}, nowMs)))
    after = last.id
  }
}

/** Runs that are there already came with an earlier call, which did not end. */
async function copyBatch(
  { source, target, checksum, onCopied }: CopyDeps,
  runs: readonly Row[],
  moreEvents: (ids: string[]) => Row[],
): Promise<void> {
  const known = new Set((await rowsByKey(target, 'runs', 'id', runs.map(idOf))).map(idOf))
  const fresh = runs.filter((run) => !known.has(idOf(run)))
  const ids = fresh.map(idOf)
  await target.transaction().execute(async (trx) => {
    await insert(trx, 'runs', fresh)
    compare('runs', fresh, await rowsByKey(trx, 'runs', 'id', ids), checksum)
    for (const { table, order } of OF_RUNS) {
      const rows = [...(await rowsOfRuns(source, table, order, ids)), ...(table === 'run_events' ? moreEvents(ids) : [])]
      await insert(trx, table, rows)
      compare(table, rows, await rowsOfRuns(trx, table, 'run_id', ids), checksum)
    }
  })
  onCopied(runs.length)
}

/** Adds what arrived to the checksum; what differs is an error, and nothing of the batch stays. */
export function compare(table: string, sent: readonly Row[], arrived: readonly Row[], checksum: Checksum): void {
  const prints = sent.map(printOf).sort()
  const found = arrived.map(printOf).sort()
  const wrong = prints.findIndex((print, i) => print !== found[i])
  if (wrong >= 0 || prints.length !== found.length)
    throw new CliError(
      `table ${table}: ${sent.length} rows were sent, ${arrived.length} arrived, and they differ: ${prints[wrong] ?? ''} / ${found[wrong] ?? ''}`,
    )
  for (const row of arrived) checksum.add(row)
}

function idOf(row: Row): string {
  return String(row.id)
}
