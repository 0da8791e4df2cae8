// httpClient's questions: what is sent, what is sent again, and what its answers mean.
import { describe, expect, test } from 'vitest'
import { httpClient } from '../../src/client/http/http-client.ts'
import type { HttpOptions } from '../../src/client/http/http-request.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'

interface Asked {
  method: string | undefined
  path: string
  headers: Record<string, string>
  body: unknown
}

type Answer = Response | Error | Promise<Response>

/** Answers in order, the last one for ever. */
function setup(answers: (() => Answer)[], options: Partial<HttpOptions> = {}) {
  const env = virtualEnv()
  const asked: Asked[] = []
  const client = httpClient({
    url: 'https://server.test/api/durably',
    env,
    async fetch(url, { method, headers, body }) {
      const path = url.replace('https://server.test/api/durably', '')
      asked.push({
        method,
        path,
        headers: Object.fromEntries(new Headers(headers)),
        body: typeof body === 'string' ? JSON.parse(body) : body,
      })
      const answer = await (answers.length > 1 ? answers.shift() : answers[0])?.()
      if (!(answer instanceof Response)) throw answer
      return answer
    },
    ...options,
  })
  const outcome = async (promise: Promise<unknown>) => {
    const settled = promise.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    await env.advance(60_000)
    return settled
  }
  return { env, asked, client, outcome }
}

const json =
  (body: unknown, init: ResponseInit = {}) =>
  () =>
    new Response(JSON.stringify(body), init)
const error = (status: number, code: string) => json({ error: { code, message: `it is ${code}` } }, { status })
const html = (status: number) => () => new Response('<html>', { status, headers: { 'content-type': 'text/html' } })
const away = () => new TypeError('fetch failed')

describe('what is sent', () => {
  test('a trigger, its values as the codec writes them', async () => {
    const { client, asked, outcome } = setup([json({ id: 'r' }, { status: 201 })])
    const options = { idempotencyKey: '日', runAt: new Date(0) }
    expect(await outcome(client.trigger('greet', { name: 'a', big: 1n }, options))).toEqual({ value: { id: 'r' } })
    expect(asked).toEqual([
      {
        method: 'POST',
        path: '/runs',
        headers: { 'content-type': 'application/json' },
        body: {
          job: 'greet',
          input: { name: 'a', big: { $durably: 'bigint', value: '1' } },
          options: { idempotencyKey: '日', runAt: { $durably: 'Date', value: '1970-01-01T00:00:00.000Z' } },
        },
      },
    ])
  })

  test('names are one segment of a path each, whatever is in them', async () => {
    const { client, asked, outcome } = setup([json({})])
    await outcome(client.signal('../a', 'b/c?d#e', undefined, { idempotencyKey: 'once' }))
    await outcome(client.decide('a', '日', 'run again'))
    await outcome(client.cancel('a', { ifVersion: 7 }))
    expect(asked).toMatchObject([
      { path: '/runs/..%2Fa/signals/b%2Fc%3Fd%23e', body: { value: { $durably: 'undefined' }, idempotencyKey: 'once' } },
      { path: '/runs/a/decisions/%E6%97%A5', body: { decision: 'run again' } },
      { path: '/runs/a/cancel', headers: { 'if-match': '"7"' } },
    ])
  })

  test('what cannot be part of a path is not sent', async () => {
    const { client, asked, outcome } = setup([json({})])
    for (const id of ['', '.', '..', '\ud800']) {
      expect(await outcome(client.getRun(id))).toEqual({ value: null })
      expect(await outcome(client.getSteps(id))).toEqual({ value: [] })
      for (const change of [client.cancel, client.retry, client.deleteRun, (id: string) => client.signal(id, 'x', 1)])
        expect(await outcome(change(id))).toMatchObject({ error: { code: 'run_not_found' } })
      expect(await outcome(client.signal('r', id, 1))).toMatchObject({ error: { code: 'invalid_name' } })
      expect(await outcome(client.decide('r', id, 'run again'))).toMatchObject({ error: { code: 'invalid_name' } })
      const subscription = client.subscribe(id)[Symbol.asyncIterator]()
      expect(await outcome(subscription.next())).toMatchObject({ error: { code: 'run_not_found' } })
    }
    expect(await outcome(client.trigger('j', () => {}))).toMatchObject({ error: { code: 'value_not_serializable' } })
    expect(asked).toEqual([])
  })

  test('headers of yours, asked for each time', async () => {
    let token = 0
    const { client, asked, outcome } = setup([json({ jobs: [] })], { headers: async () => ({ authorization: `Bearer ${++token}` }) })
    await outcome(client.getJobs())
    await outcome(client.getJobs())
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 2'])
    const failing = setup([json({})], { headers: () => Promise.reject(new Error('no token')) })
    expect(await failing.outcome(failing.client.getJobs())).toEqual({ error: new Error('no token') })
  })

  test('all pages of a list, and no more of them than was asked for', async () => {
    const pages = [json({ runs: [{ id: '3' }, { id: '2' }], nextCursor: '2' }), json({ runs: [{ id: '1' }], nextCursor: null })]
    const { client, asked, outcome } = setup(pages)
    expect(await outcome(client.getRuns({ jobName: 'a&b' }))).toEqual({ value: [{ id: '3' }, { id: '2' }, { id: '1' }] })
    expect(asked.map(({ path }) => path)).toEqual(['/runs?job=a%26b&limit=200', '/runs?job=a%26b&limit=200&cursor=2'])
    const some = setup([json({ runs: Array(200).fill({}), nextCursor: 'x' }), json({ runs: Array(50).fill({}), nextCursor: 'y' })])
    await some.outcome(some.client.getRuns({ limit: 250, status: 'failed' }))
    expect(some.asked.map(({ path }) => path)).toEqual(['/runs?status=failed&limit=200', '/runs?status=failed&limit=50&cursor=x'])
  })
})

describe('what is sent again', () => {
  test('a question that only reads, while that may help', async () => {
    for (const passing of [away, html(502), html(503), html(504), error(429, 'too_many_streams'), error(503, 'store_busy')]) {
      const { client, asked, outcome } = setup([passing, passing, json({ jobs: [] })])
      expect(await outcome(client.getJobs())).toEqual({ value: [] })
      expect(asked).toHaveLength(3)
    }
    const { client, asked, outcome } = setup([html(502)])
    expect(await outcome(client.getRun('r'))).toMatchObject({ error: { code: 'server_unreachable', runId: 'r' } })
    expect(asked).toHaveLength(5)
  })

  test('not before the server says so', async () => {
    const { client, asked, env } = setup([json({}, { status: 503, headers: { 'retry-after': '7' } }), json({ jobs: [] })])
    const answer = client.getJobs()
    await env.advance(6999)
    expect(asked).toHaveLength(1)
    await env.advance(1)
    expect(await answer).toEqual([])
  })

  test('a change with a key, and no other', async () => {
    const keyable = {
      trigger: [(c) => c.trigger('j', 1), (c) => c.trigger('j', 1, { idempotencyKey: 'k' })],
      batch: [
        (c) => c.batchTrigger('j', [{ payload: 1, options: { idempotencyKey: 'k' } }, { payload: 1 }]),
        (c) => c.batchTrigger('j', [{ payload: 1, options: { idempotencyKey: 'k' } }]),
      ],
      signal: [(c) => c.signal('r', 's', 1), (c) => c.signal('r', 's', 1, { idempotencyKey: 'k' })],
    } satisfies Record<string, ((client: ReturnType<typeof setup>['client']) => Promise<unknown>)[]>
    for (const [once, again] of Object.values(keyable)) {
      const unkeyed = setup([away])
      expect(await unkeyed.outcome((once as typeof again)?.(unkeyed.client) ?? Promise.reject())).toMatchObject({
        error: { code: 'server_unreachable' },
      })
      expect(unkeyed.asked).toHaveLength(1)
      const keyed = setup([away, html(502), json({ runs: [] })])
      await keyed.outcome(again?.(keyed.client) ?? Promise.reject())
      expect(keyed.asked).toHaveLength(3)
      expect(keyed.asked[2]).toEqual(keyed.asked[0])
    }
    const { client, asked, outcome } = setup([html(502)])
    const changes = [client.cancel, client.retry, client.deleteRun, (id: string) => client.decide(id, 's', 'run again')]
    for (const change of changes) expect(await outcome(change('r'))).toMatchObject({ error: { code: 'server_unreachable' } })
    expect(asked).toHaveLength(4)
  })

  test('a refusal never', async () => {
    for (const status of [400, 401, 403, 404, 409, 412, 413, 500]) {
      const { client, asked, outcome } = setup([html(status)])
      await outcome(client.getJobs())
      expect(asked).toHaveLength(1)
    }
  })
})

describe('what an answer means', () => {
  test('the server’s own errors keep their code and words', async () => {
    const { client, outcome } = setup([error(412, 'version_mismatch')])
    expect(await outcome(client.cancel('r', { ifVersion: 1 }))).toMatchObject({
      error: { name: 'DurablyError', code: 'version_mismatch', message: 'it is version_mismatch', runId: 'r' },
    })
  })

  test('a page of somebody else is recognized by its status, and says what to look at', async () => {
    const codes: [number, string][] = [
      [401, 'forbidden'],
      [403, 'forbidden'],
      [404, 'not_found'],
      [413, 'body_too_large'],
      [400, 'server_unreachable'],
      [500, 'server_unreachable'],
    ]
    for (const [status, code] of codes) {
      const { client, outcome } = setup([html(status)])
      const message = expect.stringContaining(`GET /runs/r was answered with ${status}, and not by Durably; is the url right`)
      expect(await outcome(client.getRun('r'))).toMatchObject({ error: { code, message } })
    }
    const { client, outcome } = setup([html(200)])
    expect(await outcome(client.getJobs())).toMatchObject({
      error: { code: 'server_unreachable', message: expect.stringContaining('<html>') },
    })
    const strange = setup([json({ error: 'no' }, { status: 418 })])
    expect(await strange.outcome(strange.client.getJobs())).toMatchObject({ error: { code: 'server_unreachable' } })
  })

  test('a run that is not there is null; a wrong address is an error', async () => {
    const { client, outcome } = setup([error(404, 'run_not_found')])
    expect(await outcome(client.getRun('r'))).toEqual({ value: null })
    const wrong = setup([error(404, 'not_found')])
    expect(await wrong.outcome(wrong.client.getRun('r'))).toMatchObject({ error: { code: 'not_found' } })
  })

  test('an answer that never comes, or breaks off, is none', async () => {
    const env = virtualEnv()
    const hanging = httpClient({
      url: 'https://server.test',
      env,
      fetch: () => new Promise(() => {}),
    })
    const trigger = hanging.trigger('j', 1).catch((error: unknown) => error)
    await env.advance(30_000)
    expect(await trigger).toMatchObject({ code: 'server_unreachable', message: expect.stringContaining('got no answer within 30000 ms') })
    const half = () => new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) }))
    const { client, outcome } = setup([half, json({ jobs: [] })])
    expect(await outcome(client.getJobs())).toEqual({ value: [] })
    const once = setup([half])
    expect(await once.outcome(once.client.trigger('j', 1))).toMatchObject({ error: { code: 'server_unreachable' } })
    await env.advance(60_000)
    expect(env.nextInMs()).toBeNull()
  })

  test('an address that is none is refused at once', () => {
    for (const url of ['', 'server', 5 as unknown as string, undefined as unknown as string])
      expect(() => httpClient({ url })).toThrow(
        expect.objectContaining({ code: 'invalid_config', message: expect.stringContaining('url must be') }),
      )
  })

  test('a path is an address in a page; where there is none, as in server rendering, the first request is refused', async () => {
    const client = httpClient({ url: '/api' })
    const refused = { code: 'server_unreachable', message: expect.stringMatching(/ \/api\/.* got no answer: .*URL/) }
    await expect(client.getJobs()).rejects.toMatchObject(refused)
    await expect(client.trigger('greet', {})).rejects.toMatchObject(refused)
    await expect(client.subscribe('r')[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused)
    const ownFetch = setup([json({ jobs: [] })], { url: '/api' })
    expect(await ownFetch.outcome(ownFetch.client.getJobs())).toEqual({ value: [] })
    expect(ownFetch.asked).toMatchObject([{ path: '/api/jobs' }])
  })
})

test('httpClient refuses an option that it does not have', () => {
  expect(() => httpClient({ url: 'https://server.test', header: {} } as never)).toThrow('there is no option "header"')
})
