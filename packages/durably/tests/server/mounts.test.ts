// The handler behind real servers, asked over real connections: node:http, Express, Hono.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably, type Durably, engineParts } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import { allowAll, durablyHandler, type ServerOptions } from '../../src/server/index.ts'
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
    const watching = () => [engineParts(durably).tail.watch.size, handler.openStreams]
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

test('a request that cannot be is refused, and the server lives on', async () => {
  const { durably } = open()
  const { url } = await listen(MOUNTS['node:http']?.(durablyHandler(durably, { authorize: allowAll() })) ?? (() => {}))
  const { hostname, port } = new URL(url)
  const say = (lines: string[]) => text(connect(Number(port), hostname).end(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`))
  expect(await say(['GET /runs HTTP/1.1', 'Host: [not a host'])).toContain(' 400 ')
  expect(await say(['TRACE /runs HTTP/1.1', 'Host: x'])).toContain(' 400 ')
  expect(await say(['GET //evil/runs HTTP/1.1', 'Host: x'])).toContain(' 404 ')
  expect(await say(['HEAD /runs HTTP/1.1', 'Host: x'])).toContain(' 405 ')
  expect(await say(['GET /runs HTTP/1.1', 'Host: x'])).toContain(' 200 ')
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
