import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { nodeListener } from '@coji/durably/server'
import { noteAddress } from '../api/client-address.ts'
import { createApi } from '../api/handler.ts'
import type { App } from '../app.ts'
import { type Listening, listen } from './listen.ts'

const UI_FOLDER = fileURLToPath(new URL('../../ui/dist', import.meta.url))
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]']

export async function serveApi(app: App, { role, port }: { role: string; port: number }): Promise<Listening> {
  const { HOST = '127.0.0.1' } = process.env
  const hosts = allowedHosts(app)
  if (app.config.auth.mode === 'dev') demandLoopback(HOST, hosts)
  const api = createApi({ app, role, uiFolder: UI_FOLDER, hosts, report: (error) => console.error('agentic-web:', error) })
  const answer = nodeListener(api.handle)
  const server = createServer((req, res) => {
    noteAddress(req)
    answer(req, res)
  })
  const listening = await listen(server, { port, host: HOST })
  return {
    ...listening,
    close() {
      api.close()
      return listening.close()
    },
  }
}

function allowedHosts({ config }: App): ReadonlySet<string> {
  const { publicUrl } = config.auth
  const fallback = [...LOCAL_HOSTS, ...(publicUrl === null ? [] : [new URL(publicUrl).hostname])].join(',')
  return new Set((process.env.ALLOWED_HOSTS ?? fallback).split(',').map((name) => name.trim()))
}

/** Without a sign-in, whoever reaches the server is its user. So nobody but this machine may. */
function demandLoopback(host: string, hosts: ReadonlySet<string>): void {
  const others = [host, ...hosts].filter((name) => !LOCAL_HOSTS.includes(name) && name !== '::1')
  if (others.length > 0)
    throw new Error(
      `AUTH_MODE=dev has no sign-in and is for this machine alone, but HOST or ALLOWED_HOSTS names ${others.join(', ')}; set AUTH_MODE=password or AUTH_MODE=oidc`,
    )
}
