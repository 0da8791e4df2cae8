// The endpoints of a worker, for probes and for Prometheus.
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Durably } from '@coji/durably'
import { CliError } from '../exit-code.ts'
import type { Metrics } from './metrics.ts'

export interface ProbesOptions {
  host: string
  port: number
  /** Whether `/metrics` counts the runs of the whole database. */
  counts: boolean
  isStopping: () => boolean
}

export interface Probes {
  url: string
  close(): void
}

export async function openProbes(durably: Durably, metrics: Metrics, options: ProbesOptions): Promise<Probes> {
  const server = createServer((request, response) => {
    answer(durably, metrics, options, request.url ?? '/', response).catch((error: unknown) =>
      send(response, 500, 'text/plain', String(error)),
    )
  })
  const port = await listen(server, options)
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://${options.host}:${port}`, close }
}

async function answer(
  durably: Durably,
  metrics: Metrics,
  { counts, isStopping }: ProbesOptions,
  url: string,
  response: ServerResponse,
): Promise<void> {
  switch (url.split('?', 1)[0]) {
    case '/health': {
      const health = await durably.health()
      return send(response, health.isAlive ? 200 : 503, 'application/json', JSON.stringify(health))
    }
    case '/ready': {
      const health = await durably.health()
      const isReady = health.isReady && !isStopping()
      return send(
        response,
        isReady ? 200 : 503,
        'application/json',
        JSON.stringify({ isReady, isStopping: isStopping(), store: health.store }),
      )
    }
    case '/metrics':
      return send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', await metrics.text({ counts }))
    default:
      return send(response, 404, 'text/plain', 'there is /health, /ready and /metrics\n')
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body)
}

function listen(server: Server, { host, port }: ProbesOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === 'EADDRINUSE' ? `port ${port} of ${host} is taken; give another one with --port, or --no-http` : error.message
      reject(new CliError(`the endpoints cannot be served: ${reason}`))
    })
    server.listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}
