// What comes from outside and is wrong: each has an answer that says what, and nothing is half written.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAfter, type StoredEvent } from '../dist/run-queue.js'
import type { AgentEvent } from '../dist/wire/event.js'
import type { AcceptedRun } from '../dist/wire/run.js'
import type { ApiErrorBody } from '../dist/wire/service.js'
import type { SessionList } from '../dist/wire/session.js'
import type { SettingsView } from '../dist/wire/settings.js'
import { type OneProcess, startOneProcess } from './rig/one-process.ts'
import { textOf } from './rig/transcript.ts'

let one: OneProcess
let session: string
beforeAll(async () => {
  one = await startOneProcess()
  session = await one.client.newSession()
}, 30_000)
afterAll(() => one?.stop())

describe('POST /api/runs', () => {
  test.each([
    ['no body', undefined, 400, 'invalid_request', 'session_id'],
    ['no JSON', '{"session_id": ', 400, 'invalid_request', 'JSON'],
    ['an empty message', { message: ' \n ' }, 400, 'invalid_request', 'empty'],
    ['a NUL', { message: 'a\0b' }, 400, 'invalid_request', 'NUL'],
    ['a message that is no text', { message: 7 }, 400, 'invalid_request', 'message'],
    ['a field that does not exist', { message: 'hi', model: 'x' }, 400, 'invalid_request', 'model'],
    ['100,001 characters', { message: 'x'.repeat(100_001) }, 413, 'too_large', '100000'],
    ['1 MB', { message: 'x'.repeat(1_000_000) }, 413, 'too_large', '700000'],
    ['a session that does not exist', { message: 'hi', session_id: 'nobody' }, 404, 'not_found', 'session'],
  ])('%s', async (_, given, status, code, word) => {
    const body = typeof given === 'object' ? { session_id: session, ...given } : given
    const answer = await one.client.request<ApiErrorBody>('POST', '/runs', { body })
    expect(answer).toMatchObject({ status, body: { error: { code, message: expect.stringContaining(word) } } })
    expect((await one.client.session(session)).messages).toEqual([])
  })

  test('more than 20 messages that wait: the next is refused, and one that is known is not', async () => {
    const { client } = one
    const id = await client.newSession()
    const send = (n: number) =>
      client.request<AcceptedRun>('POST', '/runs', {
        body: { session_id: id, message: '!silent' },
        headers: { 'Idempotency-Key': `full-${n}` },
      })
    for (let n = 1; n <= 20; n++) expect((await send(n)).status).toBe(201)
    expect(await send(21)).toMatchObject({ status: 429, body: { error: { code: 'too_many_runs' } } })
    expect((await send(20)).status).toBe(200)
    expect((await client.session(id)).active_runs.map(({ turn }) => turn)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    expect(await client.request('POST', `/sessions/${id}/cancel`)).toMatchObject({ status: 202, body: { cancelled: 20 } })
  })

  test('an Idempotency-Key that is too long', async () => {
    const headers = { 'Idempotency-Key': 'k'.repeat(201) }
    const answer = await one.client.request<ApiErrorBody>('POST', '/runs', { body: { session_id: session, message: 'hi' }, headers })
    expect(answer).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('200') } } })
  })
})

describe('cursors of event streams', () => {
  test.each([
    ['abc', 400, 'invalid_cursor'],
    ['-1', 400, 'invalid_cursor'],
    ['1e30', 400, 'invalid_cursor'],
    ['99999', 409, 'cursor_ahead'],
  ])('%s', async (cursor, status, code) => {
    const run = await one.client.send(await one.client.newSession(), '!fast 3')
    await one.client.follow(run)
    const headers = { 'Last-Event-ID': cursor }
    expect(await one.client.request('GET', `/runs/${run}/events`, { headers })).toMatchObject({ status, body: { error: { code } } })
  })

  test('204 when all was seen, and the same events from any place on', async () => {
    const run = await one.client.send(await one.client.newSession(), 'what is 2 + 3')
    const all = await one.client.follow(run)
    const { last_seq } = await one.client.run(run)
    expect((await one.client.request('GET', `/runs/${run}/events?after=${last_seq}`)).status).toBe(204)
    expect(await one.client.follow(run, { cutAfter: 2 })).toEqual(all)
  })

  test('programs read the same events in pages, without waiting', async () => {
    const run = await one.client.send(await one.client.newSession(), 'what is 2 + 4')
    const followed: AgentEvent[] = []
    await one.client.follow(run, { onEvent: (event) => followed.push(event) })
    const read: StoredEvent[] = []
    for (let page = await listAfter(one.app, run, 0, 5); page.length > 0; page = await listAfter(one.app, run, read.at(-1)?.seq ?? 0, 5))
      read.push(...page)
    // The page may have seen chunks that were joined since.
    const rest = (events: AgentEvent[]) => events.filter(({ type }) => type !== 'text' && type !== 'tool_call')
    expect(rest(read.map(({ payload }) => payload))).toEqual(rest(followed))
    expect(read.at(-1)).toMatchObject({ type: 'done', payload: { status: 'completed' } })
    expect(await listAfter(one.app, run, 0, 0)).toEqual([])
  })

  test('a long answer and long arguments come in events below 64 KiB, and the text is whole', async () => {
    const run = await one.client.send(await one.client.newSession(), '!fast 9000')
    const written = await one.client.send(await one.client.newSession(), `write long.txt: ${'€'.repeat(60_000)}`)
    const sizes: number[] = []
    const onEvent = (event: AgentEvent) => sizes.push(event.type === 'final' ? 0 : Buffer.byteLength(JSON.stringify(event)))
    expect((await one.client.follow(written, { onEvent })).done).toBe('completed')
    await one.client.follow(run)
    expect(textOf(await one.client.follow(run, { onEvent }))).toBe(Array.from({ length: 9000 }, (_, i) => `word-${i + 1} `).join(''))
    expect(Math.max(...sizes)).toBeLessThan(64 * 1024)
    const file = await fetch(`${one.url}/api/sessions/${(await one.client.run(written)).session_id}/files/long.txt`)
    expect(await file.text()).toBe(`${'€'.repeat(60_000)}\n`)
  })

  test('the output of a tool that is too long for an event is kept whole, beside the log', async () => {
    const id = await one.client.newSession()
    const run = await one.client.send(id, 'run: seq 20000')
    const results: Extract<AgentEvent, { type: 'tool_result' }>[] = []
    await one.client.follow(run, { onEvent: (event) => void (event.type === 'tool_result' && results.push(event)) })
    const [result] = results
    const whole = `${Array.from({ length: 20_000 }, (_, i) => i + 1).join('\n')}\n`
    expect(result).toMatchObject({ truncated: true, artifact: { bytes: whole.length } })
    expect(result?.content.length).toBeLessThan(50_000)
    const { messages } = await one.client.session(id)
    expect(messages.flatMap(({ parts }) => parts)).toContainEqual(expect.objectContaining({ artifact: result?.artifact }))
    const download = await fetch(`${one.url}/api/artifacts/${result?.artifact?.id}`)
    expect(download.headers.get('content-disposition')).toContain('attachment')
    expect(await download.text()).toBe(whole)
    const steps = await one.app.durably.getSteps(run)
    expect(Math.max(...steps.map(({ output }) => JSON.stringify(output ?? null).length))).toBeLessThan(64 * 1024)
  })

  test('nothing of the log but the whitelist leaves the server', async () => {
    const run = await one.client.send(session, 'write secret.txt: hidden')
    await one.client.follow(run)
    const text = await (await fetch(`${one.url}/api/runs/${run}/events`)).text()
    // The recorded output of the tool has the file as Base64; the page gets only what the tool said.
    expect(text).not.toMatch(/changes|aGlkZGVu|save-|"settings"|generation/)
    expect(text).toContain('Wrote 7 bytes to secret.txt.')
  })
})

describe('settings', () => {
  const read = () => one.client.request<SettingsView>('GET', '/settings')
  const patch = (body: object, ifMatch?: string) =>
    one.client.request<SettingsView & ApiErrorBody>('PATCH', '/settings', {
      body,
      ...(ifMatch !== undefined && { headers: { 'If-Match': ifMatch } }),
    })

  test('a change names the version it was made from', async () => {
    const { headers } = await read()
    const version = headers.get('etag') ?? ''
    expect(await patch({ reasoning: 'low' })).toMatchObject({ status: 428, body: { error: { code: 'if_match_required' } } })
    expect(await patch({ reasoning: 'low' }, 'x')).toMatchObject({ status: 400 })
    const answers = await Promise.all(['low', 'high'].map((reasoning) => patch({ reasoning }, version)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
  })

  test.each([
    [{ provider: 'other' }, 'provider'],
    [{ provider: 'openai-compatible', model: 'm' }, 'base_url'],
    [{ base_url: 'file:///etc/passwd' }, 'base_url'],
    [{ openai_api_key: 'short' }, 'openai_api_key'],
    [{ model: '' }, 'model'],
    [{ colour: 'red' }, 'colour'],
  ])('%j is refused, and changes nothing', async (change, word) => {
    const before = await read()
    const answer = await patch(change, before.headers.get('etag') ?? '')
    expect(answer).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining(word) } } })
    expect((await read()).body).toEqual(before.body)
  })

  test('a key is stored encrypted, and only its end is shown', async () => {
    const key = 'sk-canary-0123456789abcd'
    const { headers } = await read()
    const { body } = await patch({ openai_api_key: key }, headers.get('etag') ?? '')
    expect(body.openai_api_key).toEqual({ last4: 'abcd' })
    const { sealed } = await one.app.db.selectFrom('agent_secrets').select('sealed').executeTakeFirstOrThrow()
    expect(sealed).not.toContain('canary')
    const after = await patch({ openai_api_key: null }, `"${body.version}"`)
    expect(after.body.openai_api_key).toBeNull()
  })
})

test('pages of other sites and other names are refused', async () => {
  const foreign = await one.client.request('POST', '/sessions', { headers: { Origin: 'https://evil.example' } })
  expect(foreign).toMatchObject({ status: 403, body: { error: { code: 'cross_origin' } } })
  expect((await one.client.request('POST', '/sessions', { headers: { Origin: one.url } })).status).toBe(201)
})

test.each([
  '/runs/none',
  '/runs/none/events',
  '/sessions/none',
  '/sessions/none/files',
  '/sessions/none/files/a.txt',
  '/artifacts/none',
  '/artifacts/%00',
  '/nothing',
])('GET %s is not found', async (path) => {
  expect(await one.client.request('GET', path)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
})

test('sessions: search, rename, delete with a run that works', async () => {
  const { client } = one
  const id = await client.newSession()
  const run = await client.send(id, '!slow 200 with 100% of it')
  const search = async (words: string) =>
    (await client.request<SessionList>('GET', `/sessions?search=${encodeURIComponent(words)}`)).body.sessions.map(
      (found) => found.session_id,
    )
  expect(await search('100% OF')).toEqual([id])
  expect(await search('100_ of')).toEqual([])
  expect(await client.request('PATCH', `/sessions/${id}`, { body: { title: 'Numbers' } })).toMatchObject({
    status: 200,
    body: { title: 'Numbers' },
  })
  expect(await search('numbers')).toEqual([id])
  expect((await client.request('DELETE', `/sessions/${id}`)).status).toBe(204)
  expect((await client.follow(run)).done).toBe('cancelled')
  expect((await client.request('GET', `/sessions/${id}`)).status).toBe(404)
  expect(await one.app.cleanUp.triggerAndWait({})).toMatchObject({ output: { sessions: 1 } })
  expect(await one.app.durably.getRun(run)).toBeNull()
})

test('the legacy chat is a run: closing the connection does not stop it', async () => {
  const { client } = one
  const id = await client.newSession()
  const stop = new AbortController()
  const response = await fetch(`${one.url}/api/chat/${id}`, {
    method: 'POST',
    body: JSON.stringify({ message: 'what is 5 * 5' }),
    signal: stop.signal,
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  stop.abort()
  const run = response.headers.get('x-run-id') ?? ''
  expect((await client.follow(run)).done).toBe('completed')
  const again = await client.request<AcceptedRun>('POST', `/runs/${run}/retry`)
  expect(again).toMatchObject({ status: 409, body: { error: { code: 'not_failed' } } })
})
