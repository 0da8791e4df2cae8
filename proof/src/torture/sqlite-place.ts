// One SQLite file. Nothing befalls it but what its processes do to each other.
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { CompiledQuery } from 'kysely'
import { sqlite } from '../../../packages/durably/dist/sqlite/index.js'
import { sqlStore } from '../../../packages/durably/dist/store/sql/sql-store.js'
import { LATE_LOG_LINES } from './ledger.ts'
import type { Place, PlaceOptions } from './place.ts'
import type { StoreAddress } from './store-address.ts'

/** What was written survives a kill without a flush to the disk; a flush per heartbeat would leave no time for the runs. */
const DURABILITY = 'relaxed'

export async function openSqlitePlace(folder: string, { leaseMs }: PlaceOptions): Promise<Place> {
  const address: StoreAddress = { kind: 'sqlite', file: join(folder, 'durably.db'), durability: DURABILITY }
  const open = (file = address.file) => sqlStore({ dialect: sqlite(file, { durability: DURABILITY }) })
  const store = open()
  await store.migrate()
  return {
    leaseMs,
    concurrency: 2,
    strikesPerS: { kill: 2.2, freeze: 1.4, stop: 0.7 },
    // A frozen worker may hold the write lock; more of them would only make all others wait.
    pausedMax: 2,
    clockRangeMs: 3000,
    clockIsOurs: true,
    expectedTroubles: new Set(['lease_lost', 'run_stuck', 'store_busy', 'run_not_retryable', LATE_LOG_LINES]),
    faults: [],
    figures: () => ({}),
    address: () => address,
    client: store,
    store,
    async atOneMoment(look) {
      const copy = join(mkdtempSync(join(folder, 'moment-')), 'durably.db')
      await store.db.executeQuery(CompiledQuery.raw('VACUUM INTO ?', [copy]))
      const audit = open(copy)
      try {
        return await look(audit)
      } finally {
        await audit.close()
      }
    },
    async integrity() {
      const { rows } = await store.db.executeQuery<{ integrity_check: string }>(CompiledQuery.raw('PRAGMA integrity_check'))
      return rows
        .filter(({ integrity_check }) => integrity_check !== 'ok')
        .map(({ integrity_check }) => ({ invariant: 'integrity_check', runId: null, what: integrity_check }))
    },
    calm: () => {},
    close: () => store.close(),
  }
}
