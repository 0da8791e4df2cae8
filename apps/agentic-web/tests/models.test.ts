// Servers of models that fail: each run ends in a clear state, with what was said kept.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SettingsView } from '../dist/wire/settings.js'
import { type OneProcess, startOneProcess } from './rig/one-process.ts'
import { textOf } from './rig/transcript.ts'

let one: OneProcess
/** Gives up a model's server that sends nothing soon. On a busy machine any answer may be that slow, so nothing else is asked there. */
let impatient: OneProcess
beforeAll(async () => {
  const env = { MODEL_ATTEMPTS: '2', MAX_STEPS: '4', WORKER_CONCURRENCY: '16' }
  one = await startOneProcess(env)
  impatient = await startOneProcess({ ...env, MODEL_IDLE_MS: '3000' })
}, 30_000)
afterAll(() => Promise.all([one?.stop(), impatient?.stop()]))

async function ask(message: string, { client }: OneProcess = one) {
  const session = await client.newSession()
  const run = await client.send(session, message)
  const transcript = await client.follow(run)
  return { run, session, transcript, text: textOf(transcript) }
}

test.concurrent.each([
  ['!error 401', 'bad_key', 'Incorrect API key'],
  ['!error 404', 'model_not_found', 'does not exist'],
  ['!error context', 'context_too_long', 'too long'],
  ['!error 500', 'model_error', '500'],
  ['!error html', 'model_error', 'no valid answer'],
  ['!cut 9', 'model_error', 'no valid answer'],
  ['!loop', 'too_many_steps', '4 times'],
  ['!huge 20', 'answer_too_long', '1048576'],
])('%s fails with %s', async (message, code, words) => {
  const { run, transcript, session } = await ask(message)
  expect(transcript.done).toBe('failed')
  expect(transcript.error).toMatchObject({ code, message: expect.stringContaining(words) })
  expect(await one.client.run(run)).toMatchObject({ status: 'failed', error: transcript.error })
  expect((await one.client.session(session)).active_runs).toEqual([])
})

test.concurrent.each(['!silent', '!stall'])('%s is given up, and what was said is kept', async (message) => {
  const { transcript, session } = await ask(message, impatient)
  expect(transcript).toMatchObject({ done: 'failed', error: { code: 'model_stalled', message: expect.stringContaining('sent nothing') } })
  const { messages } = await impatient.client.session(session)
  expect(messages.map(({ interrupted }) => interrupted)).toEqual(message === '!stall' ? [false, true] : [false])
})

test.concurrent.each([
  ['!error 429 1', 'The server answers again.'],
  ['!cut 1', 'This answer is complete.'],
])('%s is tried again, and the text of the first attempt is gone', async (message, answer) => {
  const { transcript, text } = await ask(message)
  expect(transcript.done).toBe('completed')
  expect(text.replaceAll('|', '')).toBe(answer)
})

test.concurrent('a run stops while it waits for the next attempt', async () => {
  const { client } = one
  const run = await client.send(await client.newSession(), '!error wait')
  const transcript = await client.follow(run, {
    onEvent: ({ type }) => void (type === 'retry' && client.request('POST', `/runs/${run}/cancel`)),
  })
  expect(transcript).toMatchObject({ done: 'cancelled', error: null })
})

test.concurrent('arguments that are not valid, and a tool that does not exist, are told to the model', async () => {
  const [bad, unknown] = await Promise.all([ask('!badargs'), ask('!unknowntool')])
  expect(bad.transcript).toMatchObject({ done: 'completed' })
  expect(bad.text).toContain('The tool said: The arguments of bash are not valid')
  expect(unknown.text).toContain('The tool said: There is no tool "teleport"')
})

test.concurrent('reasoning, text and tools keep their order', async () => {
  const reasoned = await ask('!reason')
  expect(reasoned.text).toBe('<This is where a model would reason. This one only follows a script.>I have “reasoned”.')
  const { session } = reasoned
  expect((await one.client.session(session)).messages.at(-1)?.parts.map(({ type }) => type)).toEqual(['reasoning', 'text'])
  expect((await ask('!tools 3')).text).toMatch(/^\[calculator .*\]\[calculator .*\]\[calculator .*\]\|The tools returned 1, 4, 9\.$/)
})

test('the next run uses the settings as they are then, without a restart', async () => {
  const { client } = one
  const change = async (settings: object) => {
    const { body } = await client.request<SettingsView>('GET', '/settings')
    const answer = await client.request('PATCH', '/settings', { body: settings, headers: { 'If-Match': `"${body.version}"` } })
    expect(answer.status).toBe(200)
  }
  const base_url = one.app.config.demoModelUrl
  await change({ provider: 'openai-compatible', model: 'local-1', base_url, compatible_api_key: 'key-of-the-server' })
  const { run, transcript } = await ask('what is 3 * 3')
  expect(transcript.done).toBe('completed')
  expect((await client.run(run)).model).toEqual({ provider: 'openai-compatible', model: 'local-1', is_demo: false })
  await change({ provider: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' })
  expect((await ask('hello')).transcript.error).toMatchObject({ code: 'model_error', message: expect.stringContaining('no valid answer') })
  for (const provider of ['openai', 'anthropic']) {
    await change({ provider, model: 'any' })
    expect((await ask('hello')).transcript.error).toMatchObject({ code: 'bad_key', message: expect.stringContaining('settings') })
  }
  await change({ provider: 'demo', model: 'demo-scripted-1' })
})
