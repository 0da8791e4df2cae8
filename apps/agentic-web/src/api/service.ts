import { Hono } from 'hono'
import type { App } from '../app.ts'
import { kindOf } from '../db/kind.ts'
import { isMigrated } from '../db/migrate.ts'
import type { HealthView, ReadyView } from '../wire/service.ts'

const READY_MS = 2000

export function serviceRoutes(app: App, role: string): Hono {
  return new Hono()
    .get('/health', ({ json }) => json({ ok: true, role, database: kindOf(app.db) } satisfies HealthView))
    .get('/ready', async ({ json }) => {
      const ready = await readiness(app)
      return json(ready, ready.ready ? 200 : 503)
    })
}

async function readiness({ db }: App): Promise<ReadyView> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<ReadyView>((resolve) => {
    timer = setTimeout(() => resolve({ ready: false, reason: 'the database does not answer' }), READY_MS)
  })
  const asked = isMigrated(db).then(
    (isNew): ReadyView => (isNew ? { ready: true } : { ready: false, reason: 'the tables are not up to date' }),
    (): ReadyView => ({ ready: false, reason: 'the database cannot be reached' }),
  )
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}
