// The whole app in this process on a SQLite file, with a real server of the API and of the demo model.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, openApp } from '../../dist/app.js'
import { readConfig } from '../../dist/config.js'
import { migrate } from '../../dist/db/migrate.js'
import { demoModelServer } from '../../dist/demo-model/server.js'
import { listen } from '../../dist/roles/listen.js'
import { serveApi } from '../../dist/roles/serve-api.js'
import { Client } from './client.ts'
import { TEST_KEYS } from './keys.ts'

export interface OneProcess {
  app: App
  client: Client
  url: string
  stop(): Promise<void>
}

export async function startOneProcess(env: Record<string, string> = {}): Promise<OneProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'agentic-'))
  const demo = await listen(demoModelServer(), { port: 0, host: '127.0.0.1' })
  const app = openApp(
    readConfig({
      DATABASE_URL: `file:${join(folder, 'app.db')}`,
      DEMO_MODEL_URL: `${demo.url}/v1`,
      APP_KEYS: TEST_KEYS,
      ...env,
    }),
  )
  await migrate(app.durably)
  app.durably.start()
  const api = await serveApi(app, { role: 'all', port: 0 })
  return {
    app,
    client: new Client(api.url),
    url: api.url,
    async stop() {
      await api.close()
      await app.durably.stop({ timeout: 0 })
      await app.durably[Symbol.asyncDispose]()
      await demo.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
