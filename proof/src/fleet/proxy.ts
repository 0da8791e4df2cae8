// The load balancer of the fleet: hands each request to the next API process, cuts event streams, and has outages.
//   - It also serves the page, so that the page and the API have one origin.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const TORN_BYTES = 9

export class RoundRobinProxy {
  readonly #server: Server
  readonly #page: ReadonlyMap<string, { type: string; body: string }>
  #targets: readonly number[] = []
  #turn = 0
  #outage = false
  readonly #open = new Set<ServerResponse>()
  /** A stream is cut behind so many of its events. */
  #cutAfter = Number.POSITIVE_INFINITY
  readonly figures = { requests: 0, cuts: 0, outageAnswers: 0 }

  private constructor(page: ReadonlyMap<string, { type: string; body: string }>) {
    this.#page = page
    this.#server = createServer((incoming, outgoing) => this.#answer(incoming, outgoing))
  }

  static async open(page: ReadonlyMap<string, { type: string; body: string }>): Promise<RoundRobinProxy> {
    const proxy = new RoundRobinProxy(page)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  serve(targets: readonly number[]): void {
    this.#targets = targets
  }

  cutStreamsAfter(events: number): void {
    this.#cutAfter = events
  }

  /** Like a load balancer that restarts: open streams are cut, and new requests are answered with 502. */
  beginOutage(): void {
    this.#outage = true
    for (const response of this.#open) response.destroy()
  }

  endOutage(): void {
    this.#outage = false
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const file = this.#page.get(incoming.url ?? '')
    if (file) return void outgoing.writeHead(200, { 'content-type': file.type }).end(file.body)
    this.figures.requests++
    if (this.#outage || this.#targets.length === 0) {
      this.figures.outageAnswers++
      return void outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>')
    }
    const port = this.#targets[this.#turn++ % this.#targets.length]
    const onward = request(
      { port, host: '127.0.0.1', method: incoming.method, path: incoming.url, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        outgoing.flushHeaders()
        const isStream = answer.headers['content-type']?.startsWith('text/event-stream') ?? false
        let allowed = isStream ? this.#cutAfter : Number.POSITIVE_INFINITY
        answer.on('data', (chunk: Buffer) => {
          const { end, events } = untilEvent(chunk, allowed)
          allowed -= events
          if (allowed > 0) return void outgoing.write(chunk)
          this.figures.cuts++
          answer.destroy()
          // Some bytes of the next event are on their way as well.
          outgoing.write(chunk.subarray(0, end + TORN_BYTES), () => outgoing.destroy())
        })
        answer.once('end', () => outgoing.end())
        answer.once('error', () => outgoing.destroy())
      },
    )
    onward.once('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()))
    this.#open.add(outgoing)
    outgoing.once('close', () => {
      this.#open.delete(outgoing)
      onward.destroy()
    })
    incoming.pipe(onward)
  }
}

/** The position where the event of this number ends, or else the end of the chunk, and how many events end in it. */
function untilEvent(chunk: Buffer, number: number): { end: number; events: number } {
  let end = 0
  let events = 0
  while (events < number) {
    const found = chunk.indexOf('\n\n', end)
    if (found < 0) return { end: chunk.length, events }
    end = found + 2
    events++
  }
  return { end, events }
}
