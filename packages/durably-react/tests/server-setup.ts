// A server for the pages of the tests, with the same jobs: a real node:http server in the process that runs the tests.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { allowAll, durablyHandler, nodeListener } from '@coji/durably/server'
import type { TestProject } from 'vitest/node'
import { createTestDurably } from './jobs.ts'

declare module 'vitest' {
  interface ProvidedContext {
    durablyUrl: string
  }
}

export default async function startServer({ provide }: TestProject): Promise<() => Promise<void>> {
  const { durably } = createTestDurably()
  const handler = durablyHandler(durably, { authorize: allowAll() })
  const listener = nodeListener(handler)
  const server = createServer((request, response) => {
    // The pages come from another origin. What a browser asks before it lets them is answered here, as a proxy would.
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', '*')
    response.setHeader('access-control-allow-methods', '*')
    response.setHeader('access-control-max-age', '600')
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    delete request.headers.origin
    delete request.headers['sec-fetch-site']
    listener(request, response)
  })
  durably.start()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  provide('durablyUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    handler.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await durably.stop({ timeout: 0 })
  }
}
