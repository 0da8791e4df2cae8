// The handler behind real servers, asked over real connections: node:http, Express, Hono.
import { request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably, type Durably } from '../../src/durably.ts'
import { ENGINE } from '../../src/engine.ts'
import { memoryStore } from '../../src/memory.ts'
import { allowAll, durablyHandler, nodeListener, type ServerOptions } from '../../src/server/index.ts'
import { gate } from '../engine/gate.ts'
import { eventually } from '../postgres/notifiers.ts'
import { BASE_PATH, listen, MOUNTS } from './http.ts'
import { Heard } from './sse.ts'
import { read, refused } from './world.ts'

function open(): { durably: Durably; cut: () => void } {
  const durably = createDurably({ store: memoryStore() })
  onTestFinished(() => durably.stop({ timeout: 0 }))
  const { opened, open: cut } = gate()
  durably.defineJob({ name: 'greet', input: z.object({ to: z.string() }) }, (ctx, { to }) => ctx.run('say', () => `hello ${to}`))
  durably.defineJob({ name: 'slow', input: z.unknown() }, () => opened)
  durably.start()
  return { durably, cut }
}

const json = { 'Content-Type': 'application/json' }
const post = (body: unknown) => ({ method: 'POST', headers: json, body: JSON.stringify(body) })

describe.each(Object.keys(MOUNTS))('behind %s', (name) => {
  async function mounted(options: Partial<ServerOptions> = {}) {
    const { durably, cut } = open()
    const handler = durablyHandler(durably, { authorize: allowAll(), basePath: BASE_PATH, ...options })
    const { url } = await listen((MOUNTS[name] as (typeof MOUNTS)[string])(handler))
    return { durably, cut, handler, url: `${url}${BASE_PATH}` }
  }

  test('a run is triggered, followed to its end and removed', async () => {
    const { url } = await mounted()
    const created = await fetch(`${url}/runs`, post({ job: 'greet', input: { to: 'you' } }))
    expect(created.status).toBe(201)
    const { id } = (await created.json()) as { id: string }
    expect(created.headers.get('Location')).toBe(`${BASE_PATH}/runs/${id}`)
    const stream = await fetch(`${url}/runs/${id}/events`)
    expect(stream.headers.get('Content-Type')).toBe('text/event-stream')
    const heard = await new Heard(stream).all()
    expect(heard.told.at(-1)).toMatchObject({ event: 'done', data: { status: 'completed' } })
    const { length } = heard.told
    expect((await fetch(`${url}/runs/${id}/events`, { headers: { 'Last-Event-ID': `${length - 1}` } })).status).toBe(204)
    expect(await (await fetch(`${url}/runs/${id}`)).json()).toMatchObject({ output: 'hello you' })
    expect((await fetch(`${url}/runs/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await fetch(`${url}/runs/${id}`)).status).toBe(404)
    expect((await fetch(`${url}/nothing`)).status).toBe(404)
  })

  test('everything is released when the reader goes, however it goes', async () => {
    const { url, durably, handler } = await mounted()
    const { id } = (await (await fetch(`${url}/runs`, post({ job: 'slow', input: 1 }))).json()) as { id: string }
    const watching = () => [durably[ENGINE].follow.watch.size, handler.openStreams]
    const paths = [`/runs/${id}/events`, `/events?run=${id}`, '/events']
    const leaving = paths.map(() => new AbortController())
    const streams = await Promise.all(paths.map((path, i) => fetch(`${url}${path}`, { signal: leaving[i]?.signal ?? null })))
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(`GET ${BASE_PATH}/runs/${id}/events HTTP/1.1\r\nHost: x\r\n\r\n`)
    for (const stream of streams) await new Heard(stream).until(({ told }) => told.length > 0)
    await eventually(() => expect(watching()).toStrictEqual([3, 4]))
    for (const one of leaving) one.abort()
    await eventually(() => expect(watching()).toStrictEqual([1, 1]))
    socket.destroy()
    await eventually(() => expect(watching()).toStrictEqual([0, 0]))
  })

  test('a closing server ends its streams', async () => {
    const { url, handler } = await mounted()
    const { id } = (await (await fetch(`${url}/runs`, post({ job: 'slow', input: 1 }))).json()) as { id: string }
    const heard = new Heard(await fetch(`${url}/runs/${id}/events`))
    await heard.until(({ told }) => told.length > 0)
    handler.close()
    expect((await heard.all()).names).not.toContain('done')
    expect(handler.openStreams).toBe(0)
  })

  test('a body over the limit is refused while it is sent, with and without a length', async () => {
    const { url } = await mounted({ maxBodyBytes: 1000 })
    const long = JSON.stringify({ job: 'greet', input: { to: 'x'.repeat(1000) } })
    expect(await read(await fetch(`${url}/runs`, { method: 'POST', headers: json, body: long }))).toMatchObject(
      refused(413, 'body_too_large'),
    )
    // A parser that comes before waits for the end of a body, and has a limit of its own.
    if (name === 'Express behind a body parser') return
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sending = httpRequest(`${url}/runs`, { method: 'POST', headers: json }, resolve)
      sending.on('error', reject)
      // Never ended: the answer comes all the same.
      sending.write('{"job":"greet","input":{"to":"')
      sending.write('x'.repeat(2000))
    })
    expect(answer.statusCode).toBe(413)
    expect(JSON.parse(await text(answer))).toMatchObject({ error: { code: 'body_too_large' } })
    answer.destroy()
    expect((await fetch(`${url}/runs`)).status).toBe(200)
  })
})

/** Says it to the letter on a connection of its own. */
async function rawly(listener: RequestListener) {
  const { url } = await listen(listener)
  const { hostname, port } = new URL(url)
  return async (lines: string[]) => {
    const socket = connect(Number(port), hostname)
    const answer = await text(socket.end(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`, 'latin1'))
    return { status: Number(answer.split(' ', 2)[1]), body: answer.slice(answer.indexOf('\r\n\r\n') + 4) }
  }
}

test('a request that cannot be is refused, and the server lives on', async () => {
  const { durably } = open()
  const say = await rawly(nodeListener(durablyHandler(durably, { authorize: allowAll() })))
  expect(await say(['GET /runs HTTP/1.1', 'Host: [not a host'])).toMatchObject({ status: 400 })
  expect(await say(['TRACE /runs HTTP/1.1', 'Host: x'])).toMatchObject({ status: 400, body: expect.stringContaining('TRACE') })
  expect(await say(['GET //evil/runs HTTP/1.1', 'Host: x'])).toMatchObject({ status: 404 })
  expect(await say(['HEAD /runs HTTP/1.1', 'Host: x'])).toMatchObject({ status: 405 })
  expect(await say(['GET /runs HTTP/1.1', 'Host: x'])).toMatchObject({ status: 200 })
})

describe('what a guard sees before is what is answered', () => {
  /** Asked for nothing but the health, whatever is sent; what it lets pass is told. */
  async function guarded() {
    const { durably } = open()
    const answered: string[] = []
    const handler = durablyHandler(durably, { authorize: allowAll() })
    const listener = nodeListener((request) => {
      answered.push(new URL(request.url).pathname)
      return handler(request)
    })
    return { say: await rawly(listener), answered }
  }
  const HEALTH = 'GET /health HTTP/1.1'

  test.each([
    'x/runs?',
    'x/runs#',
    'x\\runs?',
    'user@x/runs?',
    'user:password@x',
    'x:99999',
    'x:80:80',
    'x:8o',
    'x y',
    'x,y',
    '',
    '[::1',
    '[::1]x',
    '[zz]',
    '[1:2]',
    'a%2fb',
    '日本',
    '1.2.3.4.5.999',
    `x/${'x'.repeat(100)}`,
  ])('Host: %s is refused with a reason', async (host) => {
    const { say, answered } = await guarded()
    const { status, body } = await say([HEALTH, `Host: ${host}`])
    expect(status).toBe(400)
    expect(body).toContain('{"error":{"code":"invalid_argument","message":"Host must')
    expect(answered).toStrictEqual([])
  })

  test.each(['x', 'x:8080', 'EXAMPLE.com', 'under_score.test', '127.0.0.1:80', '[::1]', '[::FFFF:1.2.3.4]:65535'])(
    'Host: %s is a host',
    async (host) => {
      const { say, answered } = await guarded()
      expect(await say([HEALTH, `Host: ${host}`])).toMatchObject({ status: 200 })
      expect(answered).toStrictEqual(['/health'])
    },
  )

  test.each([
    ['two hosts', ['Host: x', 'Host: y']],
    ['two hosts, one of them long', ['Host: x', 'host: x/runs?']],
  ])('%s are refused', async (_, hosts) => {
    const { say } = await guarded()
    expect(await say([HEALTH, ...hosts])).toMatchObject({ status: 400 })
  })

  test('without a host, as HTTP/1.0 allows', async () => {
    const { say } = await guarded()
    expect(await say(['GET /health HTTP/1.0'])).toMatchObject({ status: 200 })
  })

  test.each([
    '/health/../runs',
    '/health/%2e%2E/runs',
    '/health/.%2e/runs',
    '/./runs',
    '/runs/.',
    '/health/..',
    '/health\\..\\runs',
    '\\runs',
    '/\\x/runs',
    '/runs#',
    '?/runs',
    '*',
    'runs',
    'x://y/runs',
    'http:/runs',
    'http://y/runs',
    'http://x@y/runs',
    'http://x\\runs',
    'http://x/health/../runs',
    'http://x',
    'http:///runs',
  ])('%s is refused', async (target) => {
    const { say, answered } = await guarded()
    expect(await say([`GET ${target} HTTP/1.1`, 'Host: x'])).toMatchObject({ status: 400 })
    expect(answered).toStrictEqual([])
  })

  test.each([
    ['/health?a=/../runs\\..#', '/health', 200],
    ['http://x/health?a', '/health', 200],
    ['HTTPS://x/health', '/health', 200],
    ['//health', '//health', 404],
    ['//x/health', '//x/health', 404],
    ['/health%2f..%2fruns', '/health%2f..%2fruns', 404],
    ['/health%00', '/health%00', 404],
    ['/..health', '/..health', 404],
    ['/runs/a%2Fb', '/runs/a%2Fb', 404],
    ['/{}"', '/%7B%7D%22', 404],
  ])('%s is %s', async (target, path, status) => {
    const { say, answered } = await guarded()
    expect(await say([`GET ${target} HTTP/1.1`, 'Host: x'])).toMatchObject({ status })
    expect(answered).toStrictEqual([path])
  })

  test('behind Express, which knows paths too', async () => {
    const { durably } = open()
    const handler = durablyHandler(durably, { authorize: allowAll(), basePath: BASE_PATH })
    const say = await rawly(express().use(BASE_PATH, nodeListener(handler)))
    const get = (target: string, host = 'x') => say([`GET ${target} HTTP/1.1`, `Host: ${host}`])
    expect(await get(`${BASE_PATH}/health`)).toMatchObject({ status: 200 })
    expect(await get(`http://x${BASE_PATH}/health`)).toMatchObject({ status: 200 })
    expect(await get(`http://y${BASE_PATH}/health`)).toMatchObject({ status: 400 })
    expect(await get(`${BASE_PATH}/health/../runs`)).toMatchObject({ status: 400 })
    expect(await get(`${BASE_PATH}/health`, `x${BASE_PATH}/runs?`)).toMatchObject({ status: 400 })
  })

  test('a page of the same host may change something, one of another host may not', async () => {
    const { say } = await guarded()
    const cancel = (...headers: string[]) => say(['POST /runs/x/cancel HTTP/1.1', ...headers, 'Content-Length: 0'])
    expect(await cancel('Host: app.test', 'Origin: http://app.test')).toMatchObject({ status: 404 })
    // TLS ends at a proxy.
    expect(await cancel('Host: app.test', 'Origin: https://app.test')).toMatchObject({ status: 404 })
    expect(await cancel('Host: app.test:8080', 'Origin: http://app.test:8080')).toMatchObject({ status: 404 })
    expect(await cancel('Host: app.test', 'Origin: https://evil.test')).toMatchObject({ status: 403 })
    expect(await cancel('Host: evil.test/@app.test', 'Origin: https://evil.test')).toMatchObject({ status: 400 })
  })

  test('over HTTP/2', async () => {
    const { durably } = open()
    const server = createHttp2Server(nodeListener(durablyHandler(durably, { authorize: allowAll() })) as never)
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    onTestFinished(() => {
      session.destroy()
      server.close()
    })
    const status = (headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        session
          .request(headers)
          .on('error', reject)
          .on('response', (answer) => resolve(answer[':status']))
          .resume()
      })
    expect(await status({ ':path': '/health' })).toBe(200)
    expect(await status({ ':path': '/health/../runs' })).toBe(400)
    expect(await status({ ':path': '/health', ':authority': 'x', host: 'y' })).toBe(400)
  })
})

test('an upload that breaks off is nobody’s error', async () => {
  const errors: unknown[] = []
  const { durably } = open()
  const handler = durablyHandler(durably, { authorize: allowAll(), onError: (error) => void errors.push(error) })
  const answered: number[] = []
  const { url } = await listen(
    MOUNTS['node:http']?.(
      Object.assign(
        async (request: Request) => {
          const response = await handler(request)
          answered.push(response.status)
          return response
        },
        { close() {}, openStreams: 0 },
      ),
    ) ?? (() => {}),
  )
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write('POST /runs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"job":', () =>
    socket.destroy(),
  )
  await eventually(() => expect(answered).toStrictEqual([400]))
  expect(errors).toStrictEqual([])
})

test('nodeListener sends every cookie of a response', async () => {
  const cookies = ['a=1; HttpOnly', 'b=2; Expires=Wed, 21 Oct 2099 07:28:00 GMT']
  const { url } = await listen(nodeListener(async () => new Response('', { headers: cookies.map((cookie) => ['Set-Cookie', cookie]) })))
  expect((await fetch(url)).headers.getSetCookie()).toEqual(cookies)
})
