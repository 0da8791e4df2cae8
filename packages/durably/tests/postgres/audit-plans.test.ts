// Entries of the audit are found, stored and forgotten by an index, however many there are.
import { CompiledQuery, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import type { AuditQuery } from '../../src/store/cluster/audit.ts'
import { clientMoves } from '../../src/store/sql/postgres/client-moves.ts'
import { sqlAudit } from '../../src/store/sql/shared/find-audit.ts'
import { chunked, jsonRows } from '../../src/store/sql/shared/json-rows.ts'
import { sqlLeaders } from '../../src/store/sql/shared/leaders.ts'
import { logValues } from '../../src/store/sql/shared/log-values.ts'
import { awokenParent } from '../../src/store/sql/shared/owner-moves.ts'
import { reader, runRow } from '../../src/store/sql/shared/rows.ts'
import type { DurablyTables } from '../../src/store/sql/shared/schema.ts'
import { sqlSettings } from '../../src/store/sql/shared/settings.ts'
import { migratedPostgres } from './place.ts'
import { capturing, explain, rowsRead } from './plans.ts'

const ROWS = 100_000
const PAGE = 20

const QUERIES: Partial<AuditQuery>[] = [
  {},
  { actor: 'somebody' },
  { actor: 'user 7' },
  { action: 'run:cancel' },
  { action: 'settings:set' },
  { target: { kind: 'run', id: 'run 5' } },
  { target: { kind: 'settings', id: 'settings' } },
  { actor: 'somebody', target: { kind: 'run', id: 'run 5' } },
]
/** In the middle of all entries, and what is before and after it. */
const PLACES: Partial<AuditQuery>[] = [{}, { from: 40_000, before: 60_000 }, { after: { createdAt: 50_000, id: 'entry 00050000' } }]

test('none of 100,000 entries is read that is not asked for', { timeout: 120_000 }, async () => {
  const { store } = await migratedPostgres()
  await fill(store.db)
  const { deps, sent } = capturing(store.db)
  const late = { ...deps, db: store.db, runRow, reader, chunked, jsonRows, logValues, awokenParent }
  const audit = sqlAudit(late)
  const entry = { id: 'new', actor: 'ada', action: 'run:retry', targetKind: 'run', targetId: 'run 5', detail: null } as const
  const settings = { value: {}, version: 0, updatedBy: null }
  for (const act of [
    ...QUERIES.flatMap((query) => PLACES.map((place) => () => audit.findAudit({ ...query, ...place, limit: PAGE }))),
    () => clientMoves(late).retry('run 5', { audit: entry }),
    () => sqlSettings(late).writeSettings(settings, { audit: { ...entry, id: 'newer' } }),
    () => sqlLeaders(late).lead({ workerId: 'w', token: 't', leaseMs: 1000 }),
  ]) {
    await act()
    for (const query of sent.splice(0)) {
      const nodes = await explain(store.db, query)
      const read = nodes.map((node) => [node['Node Type'], node['Actual Rows']])
      expect(rowsRead(nodes), `${query.sql} ${JSON.stringify(query.parameters)} ${JSON.stringify(read)}`).toBeLessThanOrEqual(4 * PAGE)
    }
  }
})

/** One actor has done most, the others a little. All are older than entries are kept. */
async function fill(db: Kysely<DurablyTables>): Promise<void> {
  const run = (sql: string) => db.executeQuery(CompiledQuery.raw(sql))
  await run(`INSERT INTO audit (id, created_at, actor, action, target_kind, target_id)
    SELECT 'entry ' || lpad(i::text, 8, '0'), i, CASE WHEN i % 100 = 0 THEN 'user ' || i % 1000 / 100 ELSE 'somebody' END,
      CASE WHEN i % 5000 = 0 THEN 'settings:set' ELSE 'run:cancel' END, CASE WHEN i % 5000 = 0 THEN 'settings' ELSE 'run' END,
      CASE WHEN i % 5000 = 0 THEN 'settings' ELSE 'run ' || i % 9000 END FROM generate_series(1, ${ROWS}) AS i`)
  await run('ANALYZE audit')
}
