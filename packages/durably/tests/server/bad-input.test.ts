// What is sent by mistake or in bad faith is refused with a reason, or stored and returned to the letter; never a 500.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { postgres } from '../../src/postgres/index.ts'
import { TEXTS } from '../../src/testing/store-contract/hostile-texts.ts'
import { temporaryDatabase } from '../postgres/place.ts'
import { Heard } from './sse.ts'
import { type Answer, asRun, ORIGIN, reach, read, refused, request, served } from './world.ts'

const HOSTILE: Record<string, string> = {
  ...TEXTS,
  HTML: '<script>alert(1)</script><img src=x onerror=alert(1)>',
  'an SQL injection of another kind': `1' OR '1'='1'; DELETE FROM runs; --`,
  NUL: 'a\0b',
  'a header': 'a\r\nSet-Cookie: b=c',
  'a path': '../../etc/passwd',
}

function raw(
  path: string,
  body: BodyInit | null,
  headers: Record<string, string> = { 'Content-Type': 'application/json' },
  method = 'POST',
) {
  return new Request(`${ORIGIN}${path}`, {
    method,
    headers,
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  } as RequestInit)
}

describe('bodies', () => {
  test('with a member that is not known', async () => {
    const { call, job, durably } = await served('memory')
    const { id } = await job.trigger({ to: 1 })
    const unknown = (message: string) => refused(400, 'invalid_argument', message)
    const one = { job: 'greet', input: { to: 1 }, option: { delay: '1h' } }
    expect(await call('POST', '/runs', { body: one })).toMatchObject(unknown('"option"; did you mean "options"?'))
    expect(await call('POST', `/runs/${id}/signals/s`, { body: { valu: 1 } })).toMatchObject(unknown('did you mean "value"?'))
    expect(await call('POST', `/runs/${id}/decisions/s`, { body: { descision: 1 } })).toMatchObject(unknown('did you mean "decision"?'))
    expect(await durably.getRuns()).toHaveLength(1)
  })

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/json; charset=latin1', 415],
    ['application/jsonp', 415],
    ['text/plain; application/json', 415],
    ['application/json; charset=utf-8; charset=latin1', 415],
    ['application/json charset=utf-8', 415],
    ['', 415],
    [' application/json ; ', 201],
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['APPLICATION/JSON;charset="UTF-8"', 201],
  ])('of type %s: %i', async (type, status) => {
    const { handler } = await served('memory')
    const response = await handler(raw('/runs', '{"job":"greet","input":{"to":1}}', { 'Content-Type': type }))
    expect(response.status).toBe(status)
  })

  test('without a type, and on a route that reads no body', async () => {
    const { handler, job } = await served('memory')
    const { id } = await job.trigger({ to: 1 })
    const bytes = new TextEncoder().encode('{"job":"greet","input":{"to":1}}')
    expect(await read(await handler(raw('/runs', bytes, {})))).toMatchObject(refused(415, 'unsupported_media_type'))
    const form = raw(`/runs/${id}/cancel`, 'a=b', { 'Content-Type': 'application/x-www-form-urlencoded' })
    expect(await read(await handler(form))).toMatchObject(refused(415, 'unsupported_media_type'))
  })

  test('over the limit, by what they say, by what they send', async () => {
    const { handler, durably } = await served('memory', { maxBodyBytes: 1000 })
    const long = JSON.stringify({ job: 'greet', input: { to: 'x'.repeat(1000) } })
    const tooLarge = refused(413, 'body_too_large', '1000 bytes')
    expect(await read(await handler(raw('/runs', long)))).toMatchObject(tooLarge)
    const said = { 'Content-Type': 'application/json', 'Content-Length': '1001' }
    expect(await read(await handler(raw('/runs', '{}', said)))).toMatchObject(tooLarge)
    expect(await durably.getRuns()).toStrictEqual([])
  })

  test('without an end: no more is read than the limit', async () => {
    const { handler } = await served('memory', { maxBodyBytes: 1000 })
    let sent = 0
    let cancelled = false
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          sent += 100
          controller.enqueue(new Uint8Array(100).fill(0x20))
        },
        cancel() {
          cancelled = true
        },
      },
      { highWaterMark: 0 },
    )
    expect(await read(await handler(raw('/runs', endless)))).toMatchObject(refused(413, 'body_too_large'))
    expect(cancelled).toBe(true)
    expect(sent).toBeLessThanOrEqual(1200)
  })

  test.each([
    ['', 'not JSON'],
    ['{', 'not JSON'],
    ['[]', 'must be a JSON object'],
    ['null', 'must be a JSON object'],
    ['"text"', 'must be a JSON object'],
    ['{"$durably":"Map","value":[]}', 'must be a JSON object'],
    ['{"$durably":"nonsense"}', 'cannot read a value tagged "nonsense"'],
    ['{"a":{"$durably":"bigint","value":"x"}}', 'not JSON'],
    ['{"a":{"$durably":"undefined","value":1}}', 'cannot read a value tagged "undefined"'],
    ['{"a":{"$durably":"object","value":{"b":1}}}', 'cannot read a value tagged "object"'],
    ['{"a":{"$durably":"Date","value":null,"b":1}}', 'cannot read a value tagged "Date"'],
    ['{"a":{"$durably":"Map","value":1}}', 'cannot read a value tagged "Map"'],
    [`{"a":{"$durably":"object","value":"${'x'.repeat(1_000_000)}"}}`, 'cannot read a value tagged "object"'],
    [`{"a":{"$durably":"bigint","value":"${'9'.repeat(1_000_000)}"}}`, 'cannot read a value tagged "bigint"'],
    [`{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 'nested more than 64'],
    [`{"a":${'['.repeat(400_000)}`, 'nested more than 64'],
  ])('that cannot be read: %.40s', async (body, message) => {
    const { handler } = await served('memory')
    expect(await read(await handler(raw('/runs', body)))).toMatchObject(refused(400, 'invalid_json', message))
  })

  test('that are no UTF-8', async () => {
    const { handler } = await served('memory')
    const bytes = new Uint8Array([...new TextEncoder().encode('{"job":"'), 0xff, 0xfe, 0x22, 0x7d])
    expect(await read(await handler(raw('/runs', bytes)))).toMatchObject(refused(400, 'invalid_json', 'UTF-8'))
  })

  test('with brackets in texts, as deep as is allowed, and with names of every object', async () => {
    const { handler } = await served('memory')
    const to = `{"a":"\\"[[[[{{{{","b":${'['.repeat(60)}${']'.repeat(60)},"__proto__":{"polluted":1},"constructor":1}`
    const { status, body } = await read(await handler(raw('/runs', `{"job":"greet","input":{"to":${to}}}`)))
    expect(status).toBe(201)
    expect(JSON.stringify((body as { payload: { to: unknown } }).payload.to)).toBe(to)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

describe('fields', () => {
  test.each([
    [{}, 'invalid_argument', 'job must be'],
    [{ job: 1 }, 'invalid_argument', 'job must be'],
    [{ job: 'greet', input: 1 }, 'invalid_input', 'greet'],
    [{ job: 'greet', input: { to: 1 }, options: 1 }, 'invalid_argument', 'options must be an object'],
    [{ job: 'greet', input: { to: 1 }, options: { tx: {} } }, 'invalid_argument', '"tx"'],
    [{ job: 'greet', input: { to: 1 }, options: { idempotencyKey: 1 } }, 'invalid_name', 'idempotencyKey'],
    [{ job: 'greet', input: { to: 1 }, options: { concurrencyKey: '' } }, 'invalid_name', 'concurrencyKey'],
    [{ job: 'greet', input: { to: 1 }, options: { concurrencyKey: 'x'.repeat(513) } }, 'invalid_name', '512'],
    [{ job: 'greet', input: { to: 1 }, options: { holdKey: true } }, 'invalid_argument', 'holdKey needs a concurrencyKey'],
    [{ job: 'greet', input: { to: 1 }, options: { concurrencyKey: 'k', holdKey: 1 } }, 'invalid_argument', 'holdKey must be true or false'],
    [
      { job: 'greet', input: { to: 1 }, options: { concurrencyKey: 'k', holdKey: 5n } },
      'invalid_argument',
      'holdKey must be true or false',
    ],
    [{ job: 'greet', input: { to: 1 }, options: { delay: 'soon' } }, 'invalid_argument', 'delay'],
    [{ job: 'greet', input: { to: 1 }, options: { delay: null } }, 'invalid_argument', 'delay'],
    [{ job: 'greet', input: { to: 1 }, options: { runAt: 'noon' } }, 'invalid_argument', 'runAt'],
    [{ job: 'greet', input: { to: 1 }, options: { delay: 1, runAt: 1 } }, 'invalid_argument', 'either'],
    [{ job: 'greet', input: { to: 1 }, options: { deadline: new Date(Number.NaN) } }, 'invalid_argument', 'deadline'],
    [{ job: 'greet', input: { to: 1 }, options: { deadline: { toString: 1 } } }, 'invalid_argument', 'deadline'],
    [{ job: 'greet', input: { to: 1 }, options: { deadline: { toString: null, valueOf: null } } }, 'invalid_argument', 'deadline'],
    [{ job: 'greet', input: { to: 1 }, options: { delay: [['5m']] } }, 'invalid_argument', 'delay'],
    [{ job: 'greet', input: { to: 1 }, options: { delay: 5n } }, 'invalid_argument', 'delay'],
    [{ job: 'greet', input: { to: 1 }, options: { runAt: { toString: 1 } } }, 'invalid_argument', 'runAt'],
    [{ job: 'greet', input: { to: 1 }, options: { runAt: 5n } }, 'invalid_argument', 'runAt'],
    [{ job: 'greet', input: { to: 1 }, options: { concurrencyKey: { toString: 1 } } }, 'invalid_name', 'concurrencyKey'],
    [{ job: 'greet', input: { to: 1 }, options: { idempotencyKey: null } }, 'invalid_name', 'idempotencyKey'],
    [{ job: 'greet', input: { to: 1 }, options: [] }, 'invalid_argument', 'options must be an object'],
    [{ job: 'greet', input: { to: 1 }, options: new Map([['delay', 1]]) }, 'invalid_argument', 'options must be an object'],
    [{ job: 'greet', input: { to: 1 }, options: new Date(0) }, 'invalid_argument', 'options must be an object'],
    [{ job: { toString: 1 }, input: { to: 1 } }, 'invalid_argument', 'job must be'],
    [{ job: 'greet', batch: [] }, 'invalid_argument', '1 to 1000'],
    [{ job: 'greet', batch: Array(1001).fill({ payload: { to: 1 } }) }, 'invalid_argument', '1 to 1000'],
    [{ job: 'greet', batch: {} }, 'invalid_argument', 'array'],
    [{ job: 'greet', batch: [1] }, 'invalid_argument', 'array'],
    [{ job: 'greet', batch: [{ payload: { to: 1 }, options: null }] }, 'invalid_argument', 'batch[0].options'],
    [{ job: 'greet', batch: [{ payload: { to: 1 } }], input: 1 }, 'invalid_argument', 'input does not go with batch'],
  ] as const)('%.80j', async (body, code, message) => {
    const { call, durably } = await served('memory')
    expect(await call('POST', '/runs', { body })).toMatchObject(refused(400, code, message))
    expect(await durably.getRuns()).toStrictEqual([])
  })

  test('a job that nobody registered', async () => {
    const { call } = await served('memory')
    for (const job of ['nobody', 'constructor', '__proto__', ''])
      expect(await call('POST', '/runs', { body: { job, input: {} } })).toMatchObject(refused(404, 'job_not_found', JSON.stringify(job)))
  })

  test('queries', async () => {
    const { call } = await served('memory')
    for (const query of [
      'limit=0',
      'limit=201',
      'limit=-1',
      'limit=1e1',
      'limit=abc',
      'status=done',
      'cursor=abc',
      'cursor=-1',
      'cursor=1e30',
      'limit=1&limit=2',
      'status=failed&status=done',
      'phase=done',
      'clusterState=SLEEPING',
      'createdAfter=yesterday',
      'finishedBefore=-1',
      'direction=back',
      'stauts=failed',
      'cursor=&cursor=',
    ])
      expect(await call('GET', `/runs?${query}`), query).toMatchObject(refused(400, 'invalid_argument', query.split('=')[0]))
    expect(await call('GET', '/runs/x/events?after=1&after=2')).toMatchObject(refused(400, 'invalid_argument', 'after'))
    expect(await call('GET', '/runs?job=%00')).toMatchObject(refused(400, 'invalid_name', 'job'))
  })

  test('versions and paths', async () => {
    const { call, job } = await served('memory')
    const { id } = await job.trigger({ to: 1 })
    for (const version of ['0', 'abc', '"-1"', '"1e30"', 'W/"0"', '"0", "1"', '"99999999999"'])
      expect(await call('POST', `/runs/${id}/cancel`, { headers: { 'If-Match': version } }), version).toMatchObject(
        refused(400, 'invalid_argument', 'If-Match'),
      )
    expect(await call('POST', `/runs/${id}/cancel`, { headers: { 'If-Match': '"9999999999"' } })).toMatchObject(
      refused(400, 'invalid_argument'),
    )
    expect(await call('GET', '/runs/%ff')).toMatchObject(refused(400, 'invalid_argument', 'percent-encoding'))
    expect(await call('GET', '/runs/%')).toMatchObject(refused(400, 'invalid_argument', 'percent-encoding'))
  })
})

describe.each(['memory', 'sqlite', 'postgres'] as const)('hostile texts in every field (%s)', (name) => {
  async function open() {
    if (name !== 'postgres') return served(name)
    const durably = createDurably({ dialect: postgres(await temporaryDatabase()) })
    await durably.migrate()
    durably.defineJob({ name: 'greet', input: z.object({ to: z.unknown() }) }, () => {})
    return { durably, ...reach(durably) }
  }

  test('are stored and returned to the letter, or refused', async () => {
    const { call, handler, durably, errors } = await open()
    const waits = durably.defineJob({ name: 'waits', input: z.unknown() }, () => {})
    const { id } = await waits.trigger({})
    for (const [what, text] of Object.entries(HOSTILE)) {
      const refusedName = what === 'NUL'
      const path = encodeURIComponent(text)
      const input = { to: text, [text]: { nested: [text] } }
      const options = refusedName ? {} : { idempotencyKey: text, concurrencyKey: text }
      const created = await call('POST', '/runs', { body: { job: 'greet', input, options } })
      expect(created.status, what).toBe(201)
      const found = asRun(await call('GET', `/runs/${asRun(created).id}`))
      expect(found, what).toMatchObject({ payload: { to: text }, ...options })
      if (refusedName) {
        for (const key of ['idempotencyKey', 'concurrencyKey'])
          expect(await call('POST', '/runs', { body: { job: 'greet', input, options: { [key]: text } } })).toMatchObject(
            refused(400, 'invalid_name', key),
          )
      }
      expect(await call('POST', '/runs', { body: { job: text, input } }), what).toMatchObject(refused(404, 'job_not_found'))
      for (const route of ['', '/steps', '/logs'])
        expect(await call('GET', `/runs/${path}${route}`), what).toMatchObject(refused(404, 'run_not_found'))
      for (const [method, route] of [
        ['POST', '/cancel'],
        ['POST', '/retry'],
        ['DELETE', ''],
      ] as const)
        expect(await call(method, `/runs/${path}${route}`), what).toMatchObject(refused(404, 'run_not_found'))
      expect(await call('GET', `/runs?job=${path}`), what).toMatchObject(
        refusedName ? { status: 400 } : { status: 200, body: { runs: [] } },
      )
      expect(await call('GET', `/runs?status=${path}`), what).toMatchObject({ status: 400 })
      expect(await call('GET', `/runs?cursor=${path}`), what).toMatchObject({ status: 400 })
      const signal = await call('POST', `/runs/${id}/signals/${path}`, { body: { value: text } })
      expect(signal, what).toMatchObject(refusedName ? refused(400, 'invalid_name', 'signal name') : { status: 202 })
      expect(await call('POST', `/runs/${id}/decisions/${path}`, { body: { decision: { done: text } } }), what).toMatchObject({
        status: 400,
      })
    }
    for (const text of Object.values(HOSTILE)) {
      const path = encodeURIComponent(text)
      expect(await call('GET', `/runs/${path}/events`), text).toMatchObject(refused(404, 'run_not_found'))
      const { told, names } = await new Heard(await handler(request('GET', `/events?run=${path}%3A0`))).all()
      expect([names, told[0]?.data], text).toStrictEqual([['gone'], { runId: text }])
    }
    const signals = Object.values(HOSTILE).filter((text) => !text.includes('\0')).length
    expect(await durably.getRuns()).toHaveLength(Object.keys(HOSTILE).length + 1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
    expect(signals).toBeGreaterThan(10)
    expect(errors).toStrictEqual([])
    if (name === 'postgres') await durably[Symbol.asyncDispose]()
  })
})

describe('any JSON at all', () => {
  const tagged = (value: fc.Arbitrary<unknown>) =>
    fc.record({
      $durably: fc.constantFrom('undefined', 'number', 'bigint', 'Date', 'Uint8Array', 'Map', 'Set', 'object', 'nonsense'),
      value: fc.oneof(value, fc.constantFrom('NaN', '1', '2026-01-01T00:00:00.000Z', null)),
    })
  const json = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>('greet', 'k', '5m', -1, 0, 1e300, { toString: 1 }, { __proto__: null, toString: null, valueOf: null }),
    tagged(fc.jsonValue()),
  )
  /** Now and then something that is meant, so that it comes further. */
  const members = (shape: Record<string, fc.Arbitrary<unknown>>) => fc.record(shape, { requiredKeys: [] })
  const option = fc.constantFrom('idempotencyKey', 'concurrencyKey', 'holdKey', 'delay', 'runAt', 'deadline')
  const options = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(option, json).map(([name, value]) => ({ [name]: value })) },
    { weight: 1, arbitrary: fc.dictionary(fc.oneof(option, fc.string()), json, { maxKeys: 3 }) },
    { weight: 1, arbitrary: json },
  )
  const input = fc.record({ to: json })
  const item = fc.record({ payload: input, options })
  const trigger = fc.oneof(
    { weight: 5, arbitrary: fc.record({ job: fc.constant('greet'), input, options }) },
    { weight: 2, arbitrary: fc.record({ job: fc.constant('greet'), batch: fc.array(fc.oneof(item, item, json), { maxLength: 3 }) }) },
    { weight: 1, arbitrary: members({ job: json, input: json, options: json, batch: json }) },
  )

  /** 2xx, or 4xx in the shape of our errors; and nobody had to be told what went wrong. */
  function expectAnswered({ status, body }: Answer, errors: unknown[]): void {
    expect(errors.splice(0)).toStrictEqual([])
    if (status >= 200 && status < 300) return
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(body).toStrictEqual({ error: { code: expect.any(String), message: expect.any(String) } })
  }

  test('as the body of a trigger, a signal and a decision', { timeout: 60_000 }, async () => {
    const { handler, job, errors } = await served('memory')
    const { id } = await job.trigger({ to: 1 })
    const signal = fc.record({ value: json, idempotencyKey: json })
    const decision = fc.record({ decision: fc.oneof(json, members({ done: json, failed: json })) })
    const sent = fc.oneof(
      { weight: 5, arbitrary: fc.tuple(fc.constant('/runs'), trigger) },
      { weight: 1, arbitrary: fc.tuple(fc.constant(`/runs/${id}/signals/s`), fc.oneof(signal, json)) },
      { weight: 1, arbitrary: fc.tuple(fc.constant(`/runs/${id}/decisions/s`), fc.oneof(decision, json)) },
    )
    await fc.assert(
      fc.asyncProperty(sent, async ([path, body]) => {
        expectAnswered(await read(await handler(raw(path, JSON.stringify(body)))), errors)
      }),
      { numRuns: 1500 },
    )
  })

  test('as a query', async () => {
    const { handler, errors } = await served('memory')
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('1', '-1', '1e9', 'pending', '__proto__', '\0', '%00', ':', 'a:1', ':0', 'x:99999999999999999'),
    )
    const names = fc.constantFrom('status', 'job', 'limit', 'cursor', 'run', 'after', '__proto__')
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('/runs', '/events', '/runs/x/events'),
        fc.array(fc.tuple(names, text), { maxLength: 4 }),
        async (path, query) => {
          const gone = new AbortController()
          const asked = request('GET', `${path}?${new URLSearchParams(query)}`, { signal: gone.signal })
          const response = await handler(asked)
          if (response.headers.get('Content-Type') === 'text/event-stream') gone.abort()
          else expectAnswered(await read(response), errors)
        },
      ),
      { numRuns: 500 },
    )
    expect(errors).toStrictEqual([])
  })
})

test('hostile texts do not break the frames of a stream', async () => {
  const { durably, handler, job, soon } = await served('memory')
  for (const [what, text] of Object.entries({ ...HOSTILE, frames: 'a\n\nevent: done\ndata: {}\n\n: \r\rid: 7\u2028\u2029' })) {
    const { id } = await job.trigger({ to: text })
    await soon(durably.processUntilIdle())
    const { told, asides } = await soon(new Heard(await handler(request('GET', `/runs/${id}/events`))).all())
    expect(
      told.map(({ id }) => id),
      what,
    ).toStrictEqual([...told.slice(0, -1).map((_, i) => String(i + 1)), undefined])
    expect(told[0]?.data, what).toMatchObject({ type: 'run:trigger', payload: { to: text } })
    expect(told.at(-2)?.data, what).toMatchObject({ type: 'run:complete', output: `hello ${text}` })
    expect(asides).toStrictEqual(['retry: 1000'])
  }
})
