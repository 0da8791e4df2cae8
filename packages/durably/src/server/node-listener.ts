// The handler as a listener of `node:http` and Express; it asks for their shapes, not for their modules.
//   N1. When the connection closes before the answer is over, the request's signal aborts.
//   N2. No more of an answer is read than the connection takes, and no more of a body than the handler reads.

/** As much of Node's `IncomingMessage`, or Express's `Request`, as is needed. */
export interface NodeRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Of Express: the whole path, also below a mount. */
  readonly originalUrl?: string
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  readonly httpVersionMajor: number
  readonly complete: boolean
  /** What a body parser that came before has made of the body. */
  readonly body?: unknown
  readonly readableEnded: boolean
  readonly socket: object
}

/** As much of Node's `ServerResponse` as is needed. */
export interface NodeResponse {
  readonly writableFinished: boolean
  readonly destroyed: boolean
  writeHead(status: number, headers: Record<string, string>): unknown
  write(chunk: Uint8Array): boolean
  end(): unknown
  destroy(): unknown
  once(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
}

/**
 * @example createServer(nodeListener(handler)).listen(3000)
 * @example app.use('/api/durably', nodeListener(handler))
 */
export function nodeListener(handler: (request: Request) => Promise<Response>): (req: NodeRequest, res: NodeResponse) => void {
  return (req, res) => {
    const gone = new AbortController()
    res.once('close', () => {
      if (!res.writableFinished) gone.abort()
    })
    const request = toRequest(req, gone.signal)
    if (!request) {
      res.writeHead(400, { Connection: 'close' })
      res.end()
      return
    }
    handler(request)
      .then((response) => send(req, res, response))
      .catch(() => res.destroy())
  }
}

/** `null` when it is no request that can be: its path, its host or its method cannot. */
function toRequest(req: NodeRequest, signal: AbortSignal): Request | null {
  const { method = 'GET', headers } = req
  const scheme = Reflect.get(req.socket, 'encrypted') ? 'https' : 'http'
  const path = req.originalUrl ?? req.url ?? '/'
  const body = method === 'GET' || method === 'HEAD' ? null : bodyOf(req)
  try {
    return new Request(`${scheme}://${headers.host ?? headers[':authority'] ?? 'localhost'}${path}`, {
      method,
      headers: toHeaders(headers),
      signal,
      ...(body !== null && { body, duplex: 'half' }),
    } as RequestInit)
  } catch {
    return null
  }
}

function toHeaders(headers: NodeRequest['headers']): Headers {
  const all = new Headers()
  for (const [name, values] of Object.entries(headers)) {
    if (name.startsWith(':')) continue
    for (const value of [values ?? []].flat()) all.append(name, value)
  }
  return all
}

function bodyOf(req: NodeRequest): ReadableStream<Uint8Array> | string {
  if (req.readableEnded && req.body !== undefined) return JSON.stringify(req.body)
  const chunks = req[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value as Uint8Array)
      },
      // The iterator is not told: that would close the connection before the answer is sent.
    },
    { highWaterMark: 0 },
  )
}

async function send(req: NodeRequest, res: NodeResponse, response: Response): Promise<void> {
  const headers = Object.fromEntries(response.headers)
  // Who still sends a body that nobody reads would not hear the answer to another request.
  if (!req.complete && req.httpVersionMajor < 2) headers.Connection = 'close'
  const reader = response.body?.getReader()
  const leave = () => void reader?.cancel().catch(() => {})
  if (res.destroyed) return leave()
  res.once('close', leave)
  res.writeHead(response.status, headers)
  while (reader && !res.destroyed) {
    const { done, value } = await reader.read()
    if (done) break
    if (!res.write(value)) await drained(res)
  }
  res.off('close', leave)
  res.end()
}

function drained(res: NodeResponse): Promise<void> {
  if (res.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done)
      res.off('close', done)
      resolve()
    }
    res.once('drain', done)
    res.once('close', done)
  })
}
