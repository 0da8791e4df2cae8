// The server of `durably dev`, on loopback only: the page, the API of the engine under /api, and the controls under /dev.
import { createServer, type Server } from 'node:http'
import { nodeListener } from '@coji/durably/server'
import { CliError } from '../exit-code.ts'
import { answerControl } from './controls.ts'
import type { DevPage } from './page.ts'
import type { DevSession } from './session.ts'

const HOST = '127.0.0.1'
const PORTS_TRIED = 50

export interface DevServer {
  url: string
  port: number
  close(): void
}

export async function serveDev(session: DevSession, page: DevPage, firstPort: number): Promise<DevServer> {
  const server = createServer(nodeListener((request) => answer(session, page, request)))
  const port = await listen(server, firstPort)
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://localhost:${port}`, port, close }
}

async function answer(session: DevSession, page: DevPage, request: Request): Promise<Response> {
  const { pathname, hostname } = new URL(request.url)
  // Another name that leads here belongs to a page that wants to pass for this one.
  if (!OWN_NAMES.includes(hostname)) return new Response('durably dev is served as localhost only\n', { status: 403 })
  if (pathname === '/api' || pathname.startsWith('/api/')) return session.handle(request)
  if (pathname.startsWith('/dev/')) return (await answerControl(session, request)) ?? page(pathname) ?? notFound()
  return page(pathname) ?? notFound()
}

const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]']

function notFound(): Response {
  return new Response('there is nothing here\n', { status: 404 })
}

/** If a port is taken, the next one. */
async function listen(server: Server, first: number): Promise<number> {
  for (let port = first; port < first + PORTS_TRIED && port < 65_536; port++) {
    const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
      const refused = (error: NodeJS.ErrnoException) => resolve(error)
      server.once('error', refused)
      server.listen(port, HOST, () => {
        server.off('error', refused)
        resolve(null)
      })
    })
    if (error === null) return port === 0 ? portOf(server) : port
    if (error.code !== 'EADDRINUSE') throw new CliError(`port ${port} cannot be used: ${error.message}`)
  }
  throw new CliError(`the ports ${first} to ${first + PORTS_TRIED - 1} are taken; give another one with --port`)
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
