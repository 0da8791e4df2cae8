// As a pooler in transaction mode: everything passes, but no notification reaches a client.
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface DeafProxy {
  url: string
  /** From now on notifications pass. */
  letHear(): void
}

const NOTIFICATION = 'A'.charCodeAt(0)
/** A letter, then the length of the rest with its own four bytes. */
const HEAD_BYTES = 5

export async function deafProxyTo(target: string): Promise<DeafProxy> {
  const { hostname, port } = new URL(target)
  let isDeaf = true
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    client.pipe(upstream)
    let rest = Buffer.alloc(0)
    upstream.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      for (let message = takeMessage(); message; message = takeMessage()) if (!isDeaf || message[0] !== NOTIFICATION) client.write(message)
    })
    function takeMessage(): Buffer | null {
      const length = rest.length < HEAD_BYTES ? Number.POSITIVE_INFINITY : 1 + rest.readUInt32BE(1)
      if (rest.length < length) return null
      const message = rest.subarray(0, length)
      rest = rest.subarray(length)
      return message
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  const url = new URL(target)
  url.host = `127.0.0.1:${address.port}`
  return {
    url: url.href,
    letHear: () => {
      isDeaf = false
    },
  }
}
