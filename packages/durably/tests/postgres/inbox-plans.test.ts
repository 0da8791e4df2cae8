// Events are found, delivered and forgotten by an index, however many were delivered before.
import { CompiledQuery, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { deliverEvents } from '../../src/store/sql/postgres/deliver.ts'
import { sqlInbox } from '../../src/store/sql/shared/inbox.ts'
import { chunked, jsonRows } from '../../src/store/sql/shared/json-rows.ts'
import { logValues } from '../../src/store/sql/shared/log-values.ts'
import { awokenParent } from '../../src/store/sql/shared/owner-moves.ts'
import { probeRuns } from '../../src/store/sql/shared/probe.ts'
import { reader, runRow } from '../../src/store/sql/shared/rows.ts'
import type { DurablyTables } from '../../src/store/sql/shared/schema.ts'
import { migratedPostgres } from './place.ts'
import { capturing, explain, rowsRead } from './plans.ts'

const ROWS = 100_000
const PAGE = 20

test('none of 100,000 events is read that is not asked for', { timeout: 60_000 }, async () => {
  const { store } = await migratedPostgres()
  await fill(store.db)
  const { deps, sent } = capturing(store.db)
  const late = { ...deps, runRow, reader, chunked, jsonRows, logValues, awokenParent }
  const inbox = { ...sqlInbox(late), ...deliverEvents(late) }
  for (const act of [
    () => probeRuns(deps)(['job']),
    () => inbox.findEvents({ limit: PAGE }),
    () => inbox.putEvent({ id: 'new', name: 'a', data: '1', dedupeKey: 'key 5' }).catch(() => {}),
    () => inbox.deliverEvent({ epoch: 1, eventId: 'event 00000007', runs: [] }),
    () => inbox.forgetEvents(PAGE),
  ]) {
    await act()
    for (const query of sent.splice(0)) {
      const nodes = await explain(store.db, query)
      const read = nodes.map((node) => [node['Node Type'], node['Actual Rows']])
      expect(rowsRead(nodes), `${query.sql} ${JSON.stringify(read)}`).toBeLessThanOrEqual(4 * PAGE)
    }
  }
})

/** All but the last thousand were delivered, the first half of them long ago. */
async function fill(db: Kysely<DurablyTables>): Promise<void> {
  const run = (sql: string) => db.executeQuery(CompiledQuery.raw(sql))
  const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
  await run(`INSERT INTO leaders VALUES ('leader', 1, 'w', 't', 0, 0)`)
  await run(`INSERT INTO inbox (id, name, data, dedupe_key, created_at, processed_at)
    SELECT 'event ' || lpad(i::text, 8, '0'), 'a', NULL, 'key ' || i, i,
      CASE WHEN i <= ${ROWS / 2} THEN i WHEN i <= ${ROWS - 1000} THEN ${now} END FROM generate_series(1, ${ROWS}) AS i`)
  await run('ANALYZE inbox')
}
