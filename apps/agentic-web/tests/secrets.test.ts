// Keys of model providers: sealed in the database, and in nothing that a run leaves behind.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, promisify } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { AgentError } from '../dist/agent-error.js'
import { identityOf, KeyRing, newKey } from '../dist/secrets/key-ring.js'
import { Redactor } from '../dist/secrets/redactor.js'
import { resealAll } from '../dist/secrets/reseal.js'
import type { SettingsView } from '../dist/wire/settings.js'
import type { Client } from './rig/client.ts'
import { startEchoModel } from './rig/echo-model.ts'
import { testKey } from './rig/keys.ts'
import { type OneProcess, startOneProcess } from './rig/one-process.ts'
import { type Transcript, textOf } from './rig/transcript.ts'

describe('the key ring', () => {
  const ring = new KeyRing(`${testKey('k2', 2)},${testKey('k1', 1)}`)

  test('seals with the first key, opens with all', () => {
    const old = new KeyRing(testKey('k1', 1)).seal('of old', 'row')
    expect(ring.open(old, 'row')).toBe('of old')
    const sealed = ring.seal('key 🔑', 'row')
    expect(sealed).toMatch(/^k2\./)
    expect(ring.open(sealed, 'row')).toBe('key 🔑')
    expect(ring.seal('key 🔑', 'row')).not.toBe(sealed)
  })

  test('opens nothing of another row, of a key that it does not have, or that was changed', () => {
    const sealed = ring.seal('secret', identityOf('agent_secrets', 'ada', 'openai', 1))
    const bytes = Buffer.from(sealed.slice(3), 'base64')
    const changed = Array.from(
      bytes,
      (_, i) => `k2.${Buffer.from(bytes.map((byte, at) => (at === i ? byte ^ 1 : byte))).toString('base64')}`,
    )
    const identity = identityOf('agent_secrets', 'ada', 'openai', 1)
    for (const text of [...changed, sealed.replace('k2.', 'k1.'), sealed.replace('k2.', 'k3.'), sealed.slice(0, 20), 'k2.', '', 'plain'])
      expect(() => ring.open(text, identity)).toThrow(expect.objectContaining({ name: 'SecretUnreadable' }))
    for (const other of [
      ['agent_secrets', 'eve', 'openai', 1],
      ['agent_secrets', 'ada', 'openai', 2],
      ['auth', 'ada', 'openai', 1],
      ['agent_secrets', 'ada","openai', 1],
    ])
      expect(() => ring.open(sealed, identityOf(...other))).toThrow(expect.objectContaining({ name: 'SecretUnreadable' }))
  })

  test.each([
    '',
    'k1',
    `k1:${Buffer.alloc(31).toString('base64')}`,
    'a passphrase',
    `${testKey('k1', 1)},${testKey('k1', 2)}`,
    `${testKey('k1', 1)},`,
  ])('APP_KEYS=%j is refused, without being repeated', (text) => {
    const refused = () => new KeyRing(text)
    expect(refused).toThrow(/APP_KEYS/)
    if (text.length > 10) expect(refused).not.toThrow(text)
  })

  test('a new key will do', () => {
    const ring = new KeyRing(newKey())
    expect(ring.open(ring.seal('x', ''), '')).toBe('x')
  })
})

describe('the redactor', () => {
  const letters = fc.string({ unit: fc.constantFrom('x', 'y', 'z'), minLength: 1, maxLength: 6 })

  test('finds secrets in any pieces, also those that overlap', () => {
    fc.assert(
      fc.property(fc.array(letters, { minLength: 1, maxLength: 3 }), fc.array(letters, { maxLength: 20 }), (secrets, pieces) => {
        const redactor = new Redactor()
        for (const secret of secrets) redactor.learn(secret)
        const shown = redactor.pieces()
        const text = [...pieces.map((piece) => shown.push(piece)), shown.end()].join('')
        expect(text).toBe(redactor.text(pieces.join('')))
        for (const secret of secrets) expect(text).not.toContain(secret)
      }),
      { numRuns: 2000 },
    )
  })

  test('holds nothing back that cannot be a secret', () => {
    const redactor = new Redactor()
    redactor.learn('sk-secret')
    const shown = redactor.pieces()
    expect([shown.push('what sk'), shown.push('ill! s'), shown.push('k-secre'), shown.push('t'), shown.push('.')]).toEqual([
      'what ',
      'skill! ',
      '',
      '[redacted]',
      '.',
    ])
  })

  test('takes secrets out of errors, wherever they are, and leaves others as they are', () => {
    const redactor = new Redactor()
    redactor.learn('sk-secret')
    const clean = new Error('nothing')
    expect(redactor.error(clean)).toBe(clean)
    const dirty = [
      new Error('of sk-secret'),
      new Error('outer', { cause: new Error('sk-secret') }),
      Object.assign(new Error('beside'), { responseHeaders: { deep: [{ authorization: 'Bearer sk-secret' }] } }),
      new AgentError('bad_key', 'sk-secret'),
      'sk-secret',
    ]
    for (const error of dirty) expect(inspect(redactor.error(error), { depth: 20, showHidden: true })).not.toContain('sk-secret')
    expect(redactor.error(dirty[3])).toMatchObject({ name: 'AgentError', code: 'bad_key', message: '[redacted]' })
  })
})

const CANARY = 'sk-canary-0123456789-ZYXWVUTSRQPONM-wxyz'

describe('a canary', () => {
  let one: OneProcess
  let echo: Awaited<ReturnType<typeof startEchoModel>>
  const logged: string[] = []
  beforeAll(async () => {
    for (const name of ['log', 'warn', 'error', 'info', 'debug'] as const)
      vi.spyOn(console, name).mockImplementation((...words) => void logged.push(inspect(words, { depth: 20 })))
    echo = await startEchoModel()
    one = await startOneProcess({ MODEL_ATTEMPTS: '1' })
    const change = { provider: 'openai-compatible', model: 'echo', base_url: `${echo.url}/v1`, compatible_api_key: CANARY }
    const { status, body } = await patch(one.client, change)
    expect(status).toBe(200)
    expect(body.compatible_api_key).toEqual({ last4: 'wxyz' })
  }, 30_000)
  afterAll(async () => {
    vi.restoreAllMocks()
    await Promise.all([one?.stop(), echo?.close()])
  })

  const ask = async (message: string): Promise<{ transcript: Transcript; seen: string }> => {
    const events: unknown[] = []
    const run = await one.client.send(await one.client.newSession(), message)
    const transcript = await one.client.follow(run, { onEvent: (event) => events.push(event) })
    const { session_id } = await one.client.run(run)
    return { transcript, seen: JSON.stringify([events, await one.client.run(run), await one.client.session(session_id)]) }
  }

  test.each([
    ['say', 'completed', 'sk-canary is no key, but [redacted] is, and [redacted].The last one ends with the answer: [redacted]'],
    ['think', 'completed', 'thinking of [redacted]'],
    ['tool', 'completed', '[redacted].txt'],
    ['refuse', 'failed', 'Incorrect API key provided: [redacted]'],
    ['garbage', 'failed', 'no valid answer'],
  ])('that the server of the model repeats by %j reaches the server, and nobody else', async (message, done, words) => {
    const { transcript, seen } = await ask(message)
    expect(transcript.done).toBe(done)
    expect(echo.keys.at(-1)).toBe(CANARY)
    expect(`${textOf(transcript).replaceAll('><', '')} ${transcript.error?.message}`).toContain(words)
    expect(seen).not.toContain(CANARY)
  })

  test('is nowhere in the database, in no form, and in no log', async () => {
    const folder = dirname((one.app.config.databaseUrl as string).slice('file:'.length))
    const dump = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name)))).toString('latin1')
    expect(dump).toContain('[redacted]')
    for (const form of formsOf(CANARY)) {
      expect(dump).not.toContain(form)
      expect(logged.join('\n')).not.toContain(form)
    }
  })

  test('cannot be part of an address, which is shown and recorded', async () => {
    for (const base_url of ['http://user:password@localhost:11434/v1', 'http://user@localhost/v1'])
      expect(await patch(one.client, { base_url })).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining('base_url') } },
      })
  })

  test('that cannot be read fails the run, and the message says what to do', async () => {
    const { db } = one.app
    const before = await db.selectFrom('agent_secrets').selectAll().executeTakeFirstOrThrow()
    const asked = echo.keys.length
    await db
      .updateTable('agent_secrets')
      .set({ sealed: before.sealed.replace('k1.', 'k0.') })
      .execute()
    const { transcript } = await ask('say')
    expect(transcript).toMatchObject({
      done: 'failed',
      error: { code: 'secret_unreadable', message: expect.stringMatching(/settings.*again/) },
    })
    expect(echo.keys).toHaveLength(asked)
    // A key of another user, with all that belongs to it, cannot be read as one's own.
    await db
      .updateTable('agent_secrets')
      .set({ sealed: one.app.keys.seal(CANARY, identityOf('agent_secrets', 'another', before.name, before.version)) })
      .execute()
    expect((await ask('say')).transcript.error?.code).toBe('secret_unreadable')
    // Settings can still be read, and a new key is what helps.
    expect((await patch(one.client, { compatible_api_key: CANARY })).status).toBe(200)
    expect((await ask('say')).transcript.done).toBe('completed')
  })

  test('is sealed with another key while runs and settings use it', async () => {
    const ring = new KeyRing(`${testKey('k2', 2)},${testKey('k1', 1)}`)
    Object.assign(one.app, { keys: ring })
    const answers = Promise.all(Array.from({ length: 5 }, () => ask('say')))
    expect(await resealAll(one.app.db, ring)).toEqual({ resealed: 1, unreadable: 0 })
    for (const { transcript } of await answers) expect(transcript.done).toBe('completed')
    const rows = await one.app.db.selectFrom('agent_secrets').select('sealed').execute()
    expect(rows.map(({ sealed }) => sealed.slice(0, 3))).toEqual(['k2.'])
    expect(await resealAll(one.app.db, ring)).toEqual({ resealed: 0, unreadable: 0 })
    // Without the old key everything still works.
    Object.assign(one.app, { keys: new KeyRing(testKey('k2', 2)) })
    expect((await ask('say')).transcript.done).toBe('completed')
  })

  test('`rotate-keys` does the same as a command, and says what it could not read', async () => {
    const main = fileURLToPath(new URL('../dist/roles/main.js', import.meta.url))
    const rotate = (APP_KEYS: string) =>
      promisify(execFile)(process.execPath, ['--no-warnings', main, 'rotate-keys'], {
        env: { ...process.env, DATABASE_URL: one.app.config.databaseUrl, APP_KEYS },
      })
    expect((await rotate(`${testKey('k3', 3)},${testKey('k2', 2)}`)).stdout).toContain('1 secrets are now sealed with k3')
    await expect(rotate(testKey('k4', 4))).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('1 secrets cannot be opened') })
  })
})

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  // Base64 of a text that begins before it looks different, depending on how many bytes come before.
  const base64 = [0, 1, 2].map((n) =>
    Buffer.concat([Buffer.alloc(n), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  return [secret, bytes.toString('hex'), ...base64]
}

async function patch(client: Client, body: object) {
  const { body: now } = await client.request<SettingsView>('GET', '/settings')
  return client.request<SettingsView>('PATCH', '/settings', { body, headers: { 'If-Match': `"${now.version}"` } })
}
