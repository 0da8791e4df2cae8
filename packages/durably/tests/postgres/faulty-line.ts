// FaultyLine — a TCP proxy before a server, which loses, delays and cuts what goes through it. Knows no test runner.
//   N1. A fault is ordered, and the next request that it fits meets it: there is always a call under way for it to hit.
//   N2. A swallowed connection stays open and silent, also when the server is gone, until its client gives it up.
//   N3. A request that is under way arrives, also when its client has given it up or died meanwhile.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type LineFault =
  /** The request never arrives. */
  | { type: 'cut request' }
  /** What was asked is done, and the connection ends instead of a reply. */
  | { type: 'cut reply' }
  /** What was asked is done, and no byte of the server comes through any more. */
  | { type: 'swallow' }
  /** The same to a connection that is just opened. */
  | { type: 'swallow welcome' }
  | { type: 'delay request' | 'delay reply'; ms: number }

export interface LineFigures {
  cuts: number
  delays: number
  swallowed: number
}

export class FaultyLine {
  readonly #listener: Server
  readonly #target: { host: string; port: number }
  readonly #sockets = new Set<Socket>()
  #ordered: LineFault | null = null
  /** Faults that were met. */
  readonly figures: LineFigures = { cuts: 0, delays: 0, swallowed: 0 }
  /** Of the same database, through this line. */
  readonly url: string

  private constructor(listener: Server, serverUrl: string) {
    const { hostname, port } = new URL(serverUrl)
    this.#target = { host: hostname, port: Number(port) }
    this.#listener = listener.on('connection', (client) => this.#serve(client))
    const url = new URL(serverUrl)
    url.host = `127.0.0.1:${portOf(listener)}`
    this.url = url.href
  }

  static async to(serverUrl: string): Promise<FaultyLine> {
    const listener = createServer()
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    return new FaultyLine(listener, serverUrl)
  }

  /** One at a time: it takes the place of one that nobody has met yet. */
  order(fault: LineFault | null): void {
    this.#ordered = fault
  }

  close(): void {
    this.#listener.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #serve(client: Socket): void {
    const server = connect(this.#target)
    this.#watch(client)
    this.#watch(server)
    let replies: 'pass' | 'cut' | 'swallow' = 'pass'
    let isOpen = false
    let isHeld = false
    client.on('data', async (request) => {
      const fault = this.#met(isOpen)
      switch (fault?.type) {
        case 'cut request':
          this.figures.cuts++
          return end(client)
        case 'cut reply':
          this.figures.cuts++
          replies = 'cut'
          break
        case 'swallow':
        case 'swallow welcome':
          this.figures.swallowed++
          replies = 'swallow'
          break
        case 'delay request':
          this.figures.delays++
          isHeld = true
          await hold(client, fault.ms)
          isHeld = false
          break
        case 'delay reply':
          this.figures.delays++
          void hold(server, fault.ms)
      }
      server.write(request)
      if (client.destroyed) server.end()
    })
    server.on('data', (reply) => {
      isOpen = true
      if (replies === 'pass') client.write(reply)
      if (replies === 'cut') end(client)
    })
    client.on('close', () => {
      if (!isHeld) server.end()
    })
    server.on('close', () => {
      if (replies !== 'swallow') client.end()
    })
  }

  #met(isOpen: boolean): LineFault | null {
    const fault = this.#ordered
    if ((fault?.type === 'swallow' && !isOpen) || (fault?.type === 'swallow welcome' && isOpen)) return null
    this.#ordered = null
    return fault
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket)
    // The other side hears of it by `close`.
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
  }
}

/** Nothing is read from it meanwhile; what arrives comes through later, in its order. */
async function hold(socket: Socket, ms: number): Promise<void> {
  socket.pause()
  await sleep(ms)
  socket.resume()
}

/** Politely or not. */
function end(socket: Socket): void {
  if (Math.random() < 0.5) socket.destroy()
  else socket.resetAndDestroy()
}

function portOf(listener: Server): number {
  const address = listener.address()
  if (typeof address !== 'object' || address === null) throw new Error('the line has no port')
  return address.port
}
