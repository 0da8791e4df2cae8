import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { nodeListener } from '@coji/durably/server'
import { createApi } from '../api/handler.ts'
import type { App } from '../app.ts'
import { type Listening, listen } from './listen.ts'

const UI_FOLDER = fileURLToPath(new URL('../../ui/dist', import.meta.url))
const LOCAL_HOSTS = 'localhost,127.0.0.1,[::1]'

export async function serveApi(app: App, { role, port }: { role: string; port: number }): Promise<Listening> {
  const { ALLOWED_HOSTS = LOCAL_HOSTS, HOST = '127.0.0.1' } = process.env
  const hosts = new Set(ALLOWED_HOSTS.split(',').map((name) => name.trim()))
  const api = createApi({ app, role, uiFolder: UI_FOLDER, hosts, report: (error) => console.error('agentic-web:', error) })
  const listening = await listen(createServer(nodeListener(api.handle)), { port, host: HOST })
  return {
    ...listening,
    close() {
      api.close()
      return listening.close()
    },
  }
}
