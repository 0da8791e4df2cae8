// A client that counts what is asked of it and, when a test says so, fails.
import type { DurablyClient } from '@coji/durably/client'
import type { TestJobs } from './jobs.ts'

type Client = DurablyClient<TestJobs>
type Method = keyof Client

export interface WatchedClient {
  client: Client
  /** How often each was called. */
  calls: Partial<Record<Method, number>>
  /** How many subscriptions and watches are open. */
  open(): number
  /** From now on it rejects with this; `null` makes it work again. What is open breaks at once. */
  fail(method: Method, error: Error | null): void
}

/** `differing` answers instead of the client where a test needs an answer that is late or strange. */
export function watchedClient(original: Client, differing: Partial<Client> = {}): WatchedClient {
  const client = { ...original, ...differing }
  const calls: Partial<Record<Method, number>> = {}
  const failing = new Map<Method, Error>()
  const open = new Set<{ method: Method; cut: AbortController }>()

  async function* follow(method: Method, args: unknown[]): AsyncGenerator {
    const [subject, { signal, ...options } = {}] = args as [never, { signal?: AbortSignal }?]
    const error = failing.get(method)
    if (error) throw error
    const following = { method, cut: new AbortController() }
    const ended = signal ? AbortSignal.any([signal, following.cut.signal]) : following.cut.signal
    open.add(following)
    try {
      yield* client[method as 'subscribe'](subject, { ...options, signal: ended })
    } finally {
      open.delete(following)
    }
  }

  const call =
    (method: Method) =>
    (...args: never[]) => {
      calls[method] = (calls[method] ?? 0) + 1
      if (method === 'subscribe' || method === 'watchRuns') return follow(method, args)
      const error = failing.get(method)
      if (error) return Promise.reject(error)
      return (client[method] as (...args: never[]) => unknown)(...args)
    }
  return {
    client: new Proxy(client, { get: (_, method) => call(method as Method) }),
    calls,
    open: () => open.size,
    fail(method, error) {
      if (!error) return void failing.delete(method)
      failing.set(method, error)
      for (const following of open) if (following.method === method) following.cut.abort(error)
    },
  }
}
