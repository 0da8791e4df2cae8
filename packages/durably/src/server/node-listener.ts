// nodeListener — the handler as a listener of `node:http` and Express. It uses their shapes only, and imports no module of Node.
//   N1. When the connection closes before the response is complete, the request's signal aborts.
//   N2. Backpressure: a response is read only as fast as the connection takes it, and a body only as fast as the handler reads it.
//   N3. The path is exactly that of the request line: no header adds to it, and no segment is normalized away. So a guard in front that
//       looks at `req.url` sees the path that is served.
import { DurablyError } from '../model/errors.ts'
import { errorResponse } from './http-error.ts'

/** The part of Node's `IncomingMessage`, or of Express's `Request`, that is used. */
export interface NodeRequest extends AsyncIterable<unknown> {
  /** The method of the request. */
  readonly method?: string | undefined
  /** The path and the query of the request. */
  readonly url?: string | undefined
  /** Set by Express: the whole path, also below a mount. */
  readonly originalUrl?: string
  /** The headers, by name in lower case. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** Names and values in turn. A second Host header is visible only here. */
  readonly rawHeaders?: readonly string[]
  /** 1 or 2. */
  readonly httpVersionMajor: number
  /** Whether the whole request was received. */
  readonly complete: boolean
  /** What a body parser that ran before has made of the body. */
  readonly body?: unknown
  /** Whether the body was read to its end. */
  readonly readableEnded: boolean
  /** The connection. If it is encrypted, the URL of the request is `https`. */
  readonly socket: object
}

/** The part of Node's `ServerResponse` that is used. */
export interface NodeResponse {
  /** Whether everything was sent. */
  readonly writableFinished: boolean
  /** Whether the connection is closed. */
  readonly destroyed: boolean
  /** Sends the status and the headers. */
  writeHead(status: number, headers: Record<string, string | string[]>): unknown
  /** Sends a part of the body; false if the connection cannot take more for now. */
  write(chunk: Uint8Array): boolean
  /** Ends the response. */
  end(): unknown
  /** Closes the connection. */
  destroy(): unknown
  /** Calls the listener at the next event of this name. */
  once(event: 'drain' | 'close', listener: () => void): unknown
  /** Removes a listener. */
  off(event: 'drain' | 'close', listener: () => void): unknown
}

/**
 * Makes a listener for `node:http`, and for Express, of a handler.
 *
 * @example createServer(nodeListener(handler)).listen(3000)
 * @example app.use('/api/durably', nodeListener(handler))
 */
export function nodeListener(handler: (request: Request) => Promise<Response>): (req: NodeRequest, res: NodeResponse) => void {
  return (req, res) => {
    const gone = new AbortController()
    res.once('close', () => {
      if (!res.writableFinished) gone.abort()
    })
    answer(handler, req, gone.signal)
      .then((response) => send(req, res, response))
      .catch(() => res.destroy())
  }
}

async function answer(handler: (request: Request) => Promise<Response>, req: NodeRequest, signal: AbortSignal): Promise<Response> {
  let request: Request
  try {
    request = toRequest(req, signal)
  } catch (error) {
    return errorResponse(error, () => {})
  }
  return handler(request)
}

function toRequest(req: NodeRequest, signal: AbortSignal): Request {
  const { method = 'GET', headers } = req
  const url = urlOf(req)
  try {
    const body = method === 'GET' || method === 'HEAD' ? null : bodyOf(req)
    return new Request(url, { method, headers: toHeaders(headers), signal, ...(body !== null && { body, duplex: 'half' }) } as RequestInit)
  } catch (cause) {
    throw new DurablyError('invalid_argument', `a ${method} request with these headers cannot be answered`, { cause })
  }
}

/** A name, an IPv4 address or an IPv6 address in brackets, and perhaps a port. */
const HOST = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i
/** The absolute form of a request target, which proxies get and some of them send. */
const ABSOLUTE = /^https?:\/\/([^/?#\\]*)/i
/** Parts that `URL` would change: a backslash becomes a slash, dot segments are resolved, a fragment is cut off. */
const MISLEADING = /[\\#\s]|\/(?:\.|%2e){1,2}(?:\/|$)/i

function urlOf(req: NodeRequest): URL {
  const scheme = Reflect.get(req.socket, 'encrypted') ? 'https' : 'http'
  const target = req.originalUrl ?? req.url ?? '/'
  const absolute = ABSOLUTE.exec(target)
  const host = hostOf(req, absolute?.[1])
  const path = absolute ? target.slice(absolute[0].length) : target
  if (!path.startsWith('/') || MISLEADING.test(path.split('?', 1)[0] ?? ''))
    throw new DurablyError('invalid_argument', 'the path must begin with "/", without "." and ".." segments, backslashes and "#"')
  return new URL(`${scheme}://${host}${path}`)
}

/** All headers that name the host must agree. */
function hostOf({ headers, rawHeaders = [] }: NodeRequest, named: string | undefined): string {
  const isHost = (i: number) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'host'
  const hosts = [named, headers[':authority'], headers.host, ...rawHeaders.filter((_, i) => isHost(i))].filter((host) => host !== undefined)
  const [host = 'localhost'] = hosts
  if (typeof host === 'string' && hosts.every((other) => other === host) && HOST.test(host) && URL.canParse(`http://${host}`)) return host
  throw new DurablyError(
    'invalid_argument',
    'Host must be given once: a name or an address, and perhaps a port, such as "example.com:8080"',
  )
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
      // There is no `cancel`: ending the iterator would close the connection before the response is sent.
    },
    { highWaterMark: 0 },
  )
}

async function send(req: NodeRequest, res: NodeResponse, response: Response): Promise<void> {
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers)
  // The only header that cannot be joined with a comma.
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  // The rest of an unread body would be taken for the next request on this connection.
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
