// HttpRequests — sends a request once and returns what became of it. It is the one place that knows address, headers and statuses.
//   Q1. A failure of the network or of the server is a value, never an exception: the caller decides whether to send the request again.
//   Q2. An error of the server keeps its code, its message and what else it says; an error page of a proxy gets a code by its status.
import { backoffMs } from '../../model/backoff.ts'
import type { Clock } from '../../model/env.ts'
import { DurablyError, type ErrorCode } from '../../model/errors.ts'
import { refuseOthers } from './refuse-others.ts'

/** Not `HeadersInit`: of the global names for it, only this one is known both to the DOM and to Node's types. */
export type HttpHeaders = NonNullable<RequestInit['headers']>

/** The options of `httpClient`. */
export interface HttpOptions {
  /** The address at which the server is mounted: `https://example.com/api/durably`, or `/api/durably` in a page of the same site. */
  url: string
  /**
   * Headers that are sent with every request, for example a token. A function is called for each request, so that the token may change.
   * Default none.
   */
  headers?: HttpHeaders | (() => HttpHeaders | Promise<HttpHeaders>)
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** The source of time, timers and random numbers. Tests pass a virtual one. Default: those of the system. */
  env?: Clock
}

export interface HttpQuestion {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  headers?: Record<string, string>
  /** The encoded body. */
  body?: string
  /** The run that the request is about. */
  runId?: string | undefined
}

export type HttpAnswer = { response: Response } | HttpRefusal

export interface HttpRefusal {
  response: null
  error: DurablyError
  /** 0 without an answer. */
  status: number
  /** The request may succeed later: the server, or a proxy on the way, is unavailable or busy. */
  isPassing: boolean
  retryAfterMs: number
}

/** Codes for the errors of a proxy; errors of the server itself carry their code. */
const CODES: { readonly [status: number]: ErrorCode } = { 401: 'forbidden', 403: 'forbidden', 404: 'not_found', 413: 'body_too_large' }
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504])

export class HttpRequests {
  readonly #url: string
  readonly #headers: NonNullable<HttpOptions['headers']>
  readonly #fetch: NonNullable<HttpOptions['fetch']>

  constructor({ url, headers = {}, fetch = (url, init) => globalThis.fetch(url, init), ...others }: Omit<HttpOptions, 'env'>) {
    refuseOthers(others)
    // A path belongs to a page. While one is rendered on a server there is none, but nobody asks either.
    if (typeof url !== 'string' || !(url[0] === '/' || isWhole(url)))
      throw new DurablyError(
        'invalid_config',
        `url must be the address of the server, e.g. "https://example.com/api/durably", got ${JSON.stringify(url)}`,
      )
    this.#url = url.replace(/(?<!\/)\/+$/, '')
    this.#headers = headers
    this.#fetch = fetch
  }

  /** Rejects only when `headers` does. */
  async ask(question: HttpQuestion, signal: AbortSignal): Promise<HttpAnswer> {
    const { method, path, body = null } = question
    const headers = new Headers(typeof this.#headers === 'function' ? await this.#headers() : this.#headers)
    for (const [name, value] of Object.entries(question.headers ?? {})) headers.set(name, value)
    if (body !== null) headers.set('content-type', 'application/json')
    try {
      const response = await this.#fetch(this.#url + path, { method, headers, body, signal, cache: 'no-store' })
      return response.ok ? { response } : await refusal(question, response)
    } catch (cause) {
      return unreachable(`${method} ${this.#url}${path} got no answer: ${cause}`, cause, isWhole(this.#url))
    }
  }
}

function isWhole(url: string): boolean {
  return URL.canParse(url, globalThis.location?.href)
}

/** The pause before the next request, after so many failures in a row: at most 3 s, unless the server asked for `atLeastMs`. */
export function retryPauseMs(env: Clock, failures: number, atLeastMs: number, firstMs = 0): number {
  return Math.max(atLeastMs, backoffMs(env, failures, { firstMs: Math.max(250, firstMs), longestMs: 3000, shortestMs: 0 }))
}

export function unreachable(message: string, cause?: unknown, isPassing = true): HttpRefusal {
  return { response: null, error: new DurablyError('server_unreachable', message, { cause }), status: 0, isPassing, retryAfterMs: 0 }
}

async function refusal({ method, path, runId }: HttpQuestion, response: Response): Promise<HttpRefusal> {
  const { status } = response
  const own = await ownError(response)
  const code = own?.code ?? CODES[status] ?? 'server_unreachable'
  const message = own?.message ?? `${method} ${path} was answered with ${status}, and not by Durably; is the url right, is the server up?`
  return {
    response: null,
    error: Object.assign(new DurablyError(code, message, runId === undefined ? {} : { runId }), own),
    status,
    isPassing: PASSING.has(status),
    // Also 0 if it is a date.
    retryAfterMs: Number(response.headers.get('retry-after')) * 1000 || 0,
  }
}

type OwnError = Pick<DurablyError, 'code' | 'message' | 'firstSequence'>

async function ownError(response: Response): Promise<OwnError | null> {
  try {
    const { error } = (await response.json()) as { error: OwnError }
    return typeof error.code === 'string' && typeof error.message === 'string' ? error : null
  } catch {
    return null
  }
}
