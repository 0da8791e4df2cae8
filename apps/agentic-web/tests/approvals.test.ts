// Tools that need approval: a run waits for somebody, without a worker and with its session held.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiErrorBody } from '../dist/wire/service.js'
import { type OneProcess, startOneProcess } from './rig/one-process.ts'
import { Receiver } from './rig/receiver.ts'
import { until } from './rig/until.ts'

let receiver: Receiver
let site: OneProcess
beforeAll(async () => {
  receiver = await Receiver.open()
  site = await startOneProcess({ WORKER_CONCURRENCY: '1', POLL_MS: '100', NOTIFY_URL: receiver.url, APPROVE_TOOLS: 'notify,write' })
}, 30_000)
afterAll(async () => {
  await site?.stop()
  await receiver?.close()
})

const decide = (run: string, decision: unknown, step = 'tool-0-0') =>
  site.client.request<ApiErrorBody>('POST', `/runs/${run}/approvals/${step}`, { body: { decision } })

async function asked(message: string, session?: string): Promise<{ run: string; session: string }> {
  const id = session ?? (await site.client.newSession())
  const run = await site.client.send(id, message)
  await until(async () => (await site.app.durably.getRun(run))?.waitingFor?.kind === 'signal')
  return { run, session: id }
}

test('a run that waits holds its session and no worker, and goes on when it is approved, once', async () => {
  const { client } = site
  const { run, session } = await asked('notify: the build is green')
  const next = await client.send(session, 'what is 2 + 2')
  // The only slot is free for others.
  expect((await client.follow(await client.send(await client.newSession(), 'what is 1 + 1'))).done).toBe('completed')
  expect(await client.run(next)).toMatchObject({ status: 'queued', started_at: null })
  expect(receiver.texts).toEqual([])

  const answers = await Promise.all(['approve', 'deny', 'approve'].map((decision) => decide(run, decision)))
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409])
  const transcript = await client.follow(run)
  const isApproved = [...transcript.approvals.values()][0]
  expect(receiver.texts).toEqual(isApproved ? ['the build is green'] : [])
  expect(transcript.done).toBe('completed')
  expect((await client.follow(next)).done).toBe('completed')
  const late = await decide(run, 'approve')
  expect(late).toMatchObject({ status: 409, body: { error: { code: 'already_decided' } } })
  expect(late.body.error.message).toMatch(isApproved ? /^local has approved this already, at 2/ : /^local has denied this already, at 2/)
})

test('approved, a message is sent once; denied, the model is told and nothing happens', async () => {
  const { client } = site
  const before = receiver.texts.length
  const { run } = await asked('notify: yes')
  expect((await decide(run, 'approve')).status).toBe(202)
  expect([...(await client.follow(run)).results.values()]).toEqual(['The message was sent.'])
  const { run: other, session } = await asked('write secret.txt: no')
  expect((await decide(other, 'deny')).status).toBe(202)
  const transcript = await client.follow(other)
  expect(transcript).toMatchObject({ done: 'completed' })
  expect([...transcript.results.values()]).toEqual([expect.stringContaining('The user denied this call')])
  expect((await client.request('GET', `/sessions/${session}/files`)).body).toMatchObject({ files: [] })
  expect(receiver.texts.slice(before)).toEqual(['yes'])
  expect([...receiver.counts.values()].every((count) => count === 1)).toBe(true)
})

test('only what was asked can be decided, and a run that was stopped cannot', async () => {
  const { run } = await asked('notify: never')
  expect(await decide(run, 'approve', 'tool-0-1')).toMatchObject({ status: 404 })
  expect(await decide(run, 'approve', '../x')).toMatchObject({ status: 404 })
  expect(await decide('01ARZ3NDEKTSV4RRFFQ69G5FAV', 'approve')).toMatchObject({ status: 404 })
  expect(await decide(run, 'perhaps')).toMatchObject({ status: 400 })
  expect((await site.client.request('POST', `/runs/${run}/cancel`)).status).toBe(202)
  expect((await site.client.follow(run)).done).toBe('cancelled')
  expect(await decide(run, 'approve')).toMatchObject({ status: 409, body: { error: { code: 'already_ended' } } })
  expect(receiver.texts).not.toContain('never')
})

test('arguments that are not valid are told to the model, and nobody is asked', async () => {
  const transcript = await site.client.follow(await site.client.send(await site.client.newSession(), `notify: ${'x'.repeat(4001)}`))
  expect(transcript.approvals.size).toBe(0)
  expect([...transcript.results.values()][0]).toContain('The arguments of notify are not valid')
})

test('a worker that is shut down while a message is sent does not send it again', async () => {
  const { client, app } = site
  let release = () => {}
  receiver.hold = new Promise((resolve) => {
    release = resolve
  })
  const { run } = await asked('notify: only once')
  await decide(run, 'approve')
  await until(async () => receiver.texts.includes('only once'))
  await app.durably.stop({ timeout: 0 })
  app.durably.start()
  const transcript = await client.follow(run)
  release()
  expect(transcript).toMatchObject({ done: 'failed', error: { code: 'tool_in_doubt' } })
  expect([...transcript.results.values()]).toEqual([expect.stringContaining('Nobody knows whether it acted')])
  expect(receiver.texts.filter((text) => text === 'only once')).toHaveLength(1)
})

test('nobody decides in time: the run goes on without the tool', async () => {
  const patient = await startOneProcess({ POLL_MS: '50', APPROVE_TOOLS: 'write', APPROVAL_TIMEOUT_MS: '300' })
  try {
    const run = await patient.client.send(await patient.client.newSession(), 'write late.txt: no')
    const transcript = await patient.client.follow(run)
    expect([...transcript.results.values()]).toEqual(['Nobody approved this call in time, so it was not done.'])
    expect([...transcript.approvals.values()]).toEqual([false])
    const late = await patient.client.request<ApiErrorBody>('POST', `/runs/${run}/approvals/tool-0-0`, { body: { decision: 'approve' } })
    expect(late).toMatchObject({ status: 409, body: { error: { code: 'approval_expired' } } })
  } finally {
    await patient.stop()
  }
})

test('a warning of the sandbox is in the stored log of its run, and in the result', async () => {
  const { client, app } = site
  const session = await client.newSession()
  const run = await client.send(session, 'read ../../etc/passwd')
  expect((await client.follow(run)).done).toBe('completed')
  const violation = { kind: 'outside', message: '../../etc/passwd is outside of the workspace' }
  expect(await app.durably.getLogs(run)).toEqual([
    expect.objectContaining({
      level: 'warn',
      message: 'sandbox_violation',
      stepName: 'tool-0-0',
      data: { tool: 'read', sandbox: 'virtual', ...violation },
    }),
  ])
  const parts = (await client.session(session)).messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool_result'))
  expect(parts).toMatchObject([{ violation }])
})
