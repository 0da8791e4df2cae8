import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Listening {
  port: number
  url: string
  /** Ends open connections too. */
  close(): Promise<void>
}

/** Port 0 takes a free one. */
export async function listen(server: Server, { port, host }: { port: number; host: string }): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    port: taken,
    url: `http://${host === '0.0.0.0' ? 'localhost' : host}:${taken}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
