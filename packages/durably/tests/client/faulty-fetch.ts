// A way to a server on which things happen: answers that never come, come from somebody else, break off or fall silent.

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export type Fault =
  /** Nobody is there. */
  | { type: 'refuse' }
  /** Somebody on the way answers. */
  | { type: 'answer'; response: () => Response }
  /** It breaks off after so many bytes. */
  | { type: 'cut'; after: number }
  /** It ends in good order after so many bytes. */
  | { type: 'close'; after: number }
  /** It stays open and nothing more comes after so many bytes. */
  | { type: 'silence'; after: number }
  /** It comes in pieces of so many bytes. */
  | { type: 'pieces'; of: number }

export interface FaultyFetch {
  fetch: Fetch
  /** The paths that were asked for. */
  asked: string[]
  /** How many bodies are being read. */
  open(): number
  /** Breaks every line that is open. */
  cutAll(): void
}

export function faultyFetch(inner: Fetch, faultOf: (path: string, asked: number) => Fault | null): FaultyFetch {
  const asked: string[] = []
  const open = new Set<Line>()
  return {
    asked,
    open: () => open.size,
    cutAll() {
      for (const line of open) line.cut()
    },
    async fetch(url, init) {
      init.signal?.throwIfAborted()
      const path = url.slice(new URL(url).origin.length)
      const fault = faultOf(path, asked.push(path))
      if (fault?.type === 'refuse') throw new TypeError('fetch failed')
      if (fault?.type === 'answer') return fault.response()
      const response = await inner(url, init)
      if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response
      const line: Line = { cut: () => {} }
      open.add(line)
      const body = faultyBody(response.body, fault, init.signal, line, () => open.delete(line))
      return new Response(body, { status: response.status, headers: response.headers })
    },
  }
}

interface Line {
  cut: () => void
}

function faultyBody(
  body: ReadableStream<Uint8Array>,
  fault: Fault | null,
  signal: AbortSignal | null | undefined,
  line: Line,
  onEnd: () => void,
) {
  const reader = body.getReader()
  let left = fault && 'after' in fault ? fault.after : Number.POSITIVE_INFINITY
  let rest: Uint8Array[] = []
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (error: unknown) => {
          onEnd()
          reader.cancel().catch(() => {})
          controller.error(error)
        }
        line.cut = () => end(new TypeError('terminated'))
        signal?.addEventListener('abort', () => end(signal.reason))
      },
      async pull(controller) {
        if (rest.length === 0) {
          const { done, value } = await reader.read()
          if (done) {
            onEnd()
            return controller.close()
          }
          rest = fault?.type === 'pieces' ? pieces(value, fault.of) : [value]
        }
        const chunk = rest.shift() ?? new Uint8Array()
        if (chunk.length <= left) {
          left -= chunk.length
          return controller.enqueue(chunk)
        }
        if (left > 0) controller.enqueue(chunk.subarray(0, left))
        left = 0
        if (fault?.type === 'silence') return new Promise<void>(() => {})
        onEnd()
        reader.cancel().catch(() => {})
        if (fault?.type === 'close') controller.close()
        else controller.error(new TypeError('terminated'))
      },
      cancel() {
        onEnd()
        return reader.cancel()
      },
    },
    { highWaterMark: 0 },
  )
}

function pieces(bytes: Uint8Array, of: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / of) }, (_, i) => bytes.subarray(i * of, (i + 1) * of))
}

export const badGateway = (): Fault => ({
  type: 'answer',
  response: () => new Response('<html><h1>502 Bad Gateway</h1></html>', { status: 502, headers: { 'content-type': 'text/html' } }),
})
