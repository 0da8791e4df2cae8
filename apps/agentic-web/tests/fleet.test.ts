// Two APIs and two workers in real processes on a real Postgres: what must hold when any of them is killed.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AcceptedRun } from '../dist/wire/run.js'
import type { FileList, Message } from '../dist/wire/session.js'
import { Fleet } from './rig/fleet.ts'
import { textOf } from './rig/transcript.ts'
import { until } from './rig/until.ts'

let fleet: Fleet
beforeAll(async () => {
  fleet = await Fleet.start({ APPROVE_TOOLS: 'sql' })
}, 60_000)
afterAll(() => fleet?.stop())

const STEP = (n: number) => Array.from({ length: 10 }, (_, i) => `step ${n} word-${i + 1} `).join('')

describe('a worker that is lost', () => {
  test('mid-answer: the answer is complete and not doubled, however often the page was cut off', { timeout: 40_000 }, async () => {
    const { client } = fleet
    const session = await client.newSession()
    // The model falls silent the first time that it is asked this.
    const message = `!steps 3 2 ${randomUUID()}`
    const run = await client.send(session, message)
    let killed: Promise<unknown> | undefined
    const transcript = await client.follow(run, {
      cutAfter: 7,
      onEvent(event) {
        if (event.type === 'text' && event.step_id === 'model-1-1' && event.content.includes('step 2 word-4')) killed ??= killOwner(run)
      },
    })
    await killed
    expect(transcript.done).toBe('completed')
    expect(transcript.restarts).toContain('worker_lost')
    expect(textOf(transcript).replace(/\[[^\]]*\]/g, '')).toBe(
      `${STEP(1)}|${STEP(2)}|${STEP(3)}|All steps are done. The file had these lengths: 1, 2, 3.`,
    )
    expect(await client.follow(run)).toMatchObject({ steps: transcript.steps, results: transcript.results, done: 'completed' })
    // Only the call of the model that was cut off was repeated.
    const calls = (await fleet.requests()).filter(({ asked }) => asked === message).map((request) => request.calls)
    expect(calls).toEqual([0, 1, 1, 2, 3])
    const { messages, active_runs } = await client.session(session)
    expect(active_runs).toEqual([])
    expect(messages.map(({ role }) => role)).toEqual(['user', ...Array(3).fill(['assistant', 'tool']).flat(), 'assistant'])
    expect(textOfMessage(messages.at(-1))).toBe('All steps are done. The file had these lengths: 1, 2, 3.')
  })

  test('between the work of a tool and the commit of its files: the files change once', { timeout: 40_000 }, async () => {
    const { client } = fleet
    const session = await client.newSession()
    const run = await client.send(session, 'append log.txt: once')
    const lock = await fleet.connect()
    // The step of the tool is recorded, and the transaction after it waits for the row of the session.
    await until(async () => (await fleet.query("SELECT 1 FROM steps WHERE run_id = $1 AND name = 'save-model-0-1'", [run])).length)
    const owner = await ownerOf(run)
    await lock.query('BEGIN')
    await lock.query('SELECT 1 FROM agent_sessions WHERE session_id = $1 FOR UPDATE', [session])
    await until(async () => (await fleet.query("SELECT 1 FROM steps WHERE run_id = $1 AND name = 'tool-0-0'", [run])).length)
    await fleet.endWorker(owner, 'SIGKILL')
    expect((await client.request<FileList>('GET', `/sessions/${session}/files`)).body.files).toEqual([])
    await Promise.all([lock.end(), fleet.startWorker(`${owner}'`)])
    const transcript = await client.follow(run)
    expect(transcript.done).toBe('completed')
    const file = await fetch(`${fleet.apiUrls[0]}/api/sessions/${session}/files/log.txt`)
    expect(await file.text()).toBe('once\n')
    expect(file.headers.get('content-disposition')).toContain('attachment')
    const attempts = await fleet.query(
      "SELECT 1 FROM run_events WHERE run_id = $1 AND event_type = 'step:start' AND payload LIKE '%\"tool-0-0\"%'",
      [run],
    )
    expect(attempts).toHaveLength(1)
  })

  test('by SIGTERM: it gives the run back at once, that costs nothing, and the next message does not overtake it', {
    timeout: 40_000,
  }, async () => {
    const { client } = fleet
    const session = await client.newSession()
    const run = await client.send(session, `!slow 15 5 ${randomUUID()}`)
    const next = await client.send(session, 'what is 9 * 9')
    let ended: Promise<number | null> | undefined
    const transcript = await client.follow(run, {
      onEvent(event) {
        if (event.type === 'text' && event.content.includes('word-3 ')) ended ??= ownerOf(run).then((name) => replace(name, 'SIGTERM'))
      },
    })
    expect(await ended).toBe(0)
    expect(transcript).toMatchObject({ done: 'completed', restarts: ['worker_stopped'], starts: 2 })
    expect(textOf(transcript)).toBe(numbered(15))
    expect((await client.follow(next)).done).toBe('completed')
    const [stopped, answered] = await Promise.all([client.run(run), client.run(next)])
    expect(Date.parse(answered.started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(stopped.finished_at ?? ''))
    expect((await fleet.query<{ recoveries: number }>('SELECT recoveries FROM runs WHERE id = $1', [run]))[0]?.recoveries).toBe(0)
  })
})

test('a session stays with its worker while that one is there, and goes to another one when it has left', { timeout: 60_000 }, async () => {
  const { client } = fleet
  const session = await client.newSession()
  const answeredBy = async () => {
    const run = await client.send(session, '!fast 2')
    await client.follow(run)
    return (await client.run(run)).worker_id
  }
  const first = await answeredBy()
  for (let i = 0; i < 6; i++) expect(await answeredBy()).toBe(first)
  await fleet.endWorker(first ?? '', 'SIGTERM')
  const second = await answeredBy()
  expect(second).not.toBe(first)
  await fleet.startWorker(first ?? '')
  for (let i = 0; i < 6; i++) expect(await answeredBy()).toBe(second)
})

test('a run that kills each of its workers is given up after the third, and takes no other run with it', { timeout: 90_000 }, async () => {
  const { client } = fleet
  // One worker, so that they share it.
  const [absent = ''] = fleet.workers
  await fleet.endWorker(absent, 'SIGTERM')
  const others = await Promise.all(Array.from({ length: 3 }, async () => client.send(await client.newSession(), '!slow 40')))
  const run = await client.send(await client.newSession(), '!crash-worker')
  for (let lost = 0; lost < 3; lost++) await fleet.replaceLost()
  expect(await client.follow(run)).toMatchObject({ done: 'failed', error: { code: 'worker_lost' } })
  expect(await client.run(run)).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } })
  const answers = await Promise.all(others.map((other) => client.follow(other)))
  for (const answer of answers) expect([answer.done, textOf(answer)]).toEqual(['completed', numbered(40)])
  await fleet.startWorker(absent)
  // Those that shared three workers with it would have failed as well, had they not been executed alone.
  expect(Math.max(...answers.map(({ restarts }) => restarts.filter((why) => why === 'worker_lost').length))).toBeGreaterThanOrEqual(1)
})

describe('whichever server is asked', () => {
  test('one key makes one run, and another message with it is refused', async () => {
    const { client } = fleet
    const session = await client.newSession()
    const send = (message: string) =>
      client.request<AcceptedRun>('POST', '/runs', { body: { session_id: session, message }, headers: { 'Idempotency-Key': 'k1' } })
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('what is 1 + 1')))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201])
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1)
    expect(await send('what is 1 + 2')).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } })
    await client.follow(answers[0]?.body.run_id ?? '')
    expect((await client.session(session)).messages.filter(({ role }) => role === 'user')).toHaveLength(1)
  })

  test('messages of a session are answered one after the other, in the order in which they were accepted', {
    timeout: 30_000,
  }, async () => {
    const { client } = fleet
    const session = await client.newSession()
    const runs = await Promise.all(['1 + 1', '2 + 2', '3 + 3', '4 + 4'].map((sum) => client.send(session, `what is ${sum}`)))
    await Promise.all(runs.map((run) => client.follow(run)))
    const views = (await Promise.all(runs.map((run) => client.run(run)))).sort((a, b) => a.turn - b.turn)
    for (const [i, view] of views.entries())
      if (i > 0) expect(Date.parse(view.started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(views[i - 1]?.finished_at ?? ''))
    const { messages } = await client.session(session)
    expect(messages.map(({ turn }) => turn)).toEqual([1, 2, 3, 4].flatMap((turn) => Array(4).fill(turn)))
    expect(await (await fetch(`${fleet.apiUrls[0]}/api/sessions/${session}`)).text()).toBe(
      await (await fetch(`${fleet.apiUrls[1]}/api/sessions/${session}`)).text(),
    )
  })

  test('a run that waits keeps its session: the next message is not answered before it', { timeout: 40_000 }, async () => {
    const { client } = fleet
    const session = await client.newSession()
    const run = await client.send(session, '!slow 20 waits')
    await until(async () => (await client.run(run)).last_seq > 5)
    const start = await fleet.withoutWorkers()
    // As if it waited for somebody, or for a time.
    await fleet.query('UPDATE runs SET run_at = run_at + $2 WHERE id = $1', [
      run,
      Date.now() - Date.parse((await client.run(run)).created_at) + 3000,
    ])
    const next = await client.send(session, 'what is 7 * 7')
    await start()
    const [waited, answered] = await Promise.all(
      [run, next].map(async (one) => ({ ...(await client.follow(one)), ...(await client.run(one)) })),
    )
    expect([waited?.done, answered?.done]).toEqual(['completed', 'completed'])
    expect(Date.parse(answered?.started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(waited?.finished_at ?? ''))
  })

  test('a tool is approved while there is no worker, by the first who decides on either server, and works once', {
    timeout: 40_000,
  }, async () => {
    const { client } = fleet
    const run = await client.send(await client.newSession(), 'sql: select 6 * 7')
    await until(async () => (await fleet.query("SELECT 1 FROM steps WHERE run_id = $1 AND name = 'ask-tool-0-0'", [run])).length)
    const lost = fleet.workers
    await Promise.all(lost.map((name) => fleet.endWorker(name, 'SIGKILL')))
    const decide = () => client.request('POST', `/runs/${run}/approvals/tool-0-0`, { body: { decision: 'approve' } })
    const answers = await Promise.all([decide(), decide(), decide(), decide()])
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409])
    await Promise.all(lost.map((name) => fleet.startWorker(`${name}'`)))
    const transcript = await client.follow(run)
    expect(transcript.done).toBe('completed')
    expect([...transcript.results.values()]).toEqual([expect.stringContaining('42')])
    expect([...transcript.approvals.values()]).toEqual([true])
  })

  test('a run stops while its model is silent and while a tool works, and what it said is kept', { timeout: 30_000 }, async () => {
    const { client } = fleet
    const session = await client.newSession()
    const said = 'This answer stops in the middle of a'
    const silent = await client.send(session, '!stall here')
    const sleeping = await client.send(await client.newSession(), 'run: sleep 50')
    const cancel = async (run: string) => expect((await client.request('POST', `/runs/${run}/cancel`)).status).toBe(202)
    const [stopped, slept] = await Promise.all([
      client.follow(silent, {
        onEvent: (event) => void (event.type === 'text' && event.at + event.content.length === said.length && cancel(silent)),
      }),
      client.follow(sleeping, { onEvent: (event) => void (event.type === 'step_start' && event.kind === 'tool' && cancel(sleeping)) }),
    ])
    expect([stopped.done, slept.done]).toEqual(['cancelled', 'cancelled'])
    await until(async () => (await fleet.requests()).some(({ asked, aborted }) => asked === '!stall here' && aborted))
    const kept = async () => (await client.session(session)).messages.filter(({ interrupted }) => interrupted)
    expect((await kept()).map(textOfMessage)).toEqual([said])
    expect((await client.request('POST', `/runs/${silent}/cancel`)).status).toBe(409)
    // The next run writes it down, and the model is told.
    await client.follow(await client.send(session, 'what did I say'))
    expect((await kept()).map(textOfMessage)).toEqual([said])
    expect(await fleet.query('SELECT 1 FROM agent_messages WHERE session_id = $1 AND interrupted = 1', [session])).toHaveLength(1)
  })
})

test('the views show runs and events in the words of the specification', async () => {
  const { client } = fleet
  const session = await client.newSession()
  const run = await client.send(session, 'what is 6 * 7')
  await client.follow(run)
  const [row] = await fleet.query('SELECT * FROM agent_runs WHERE run_id = $1', [run])
  expect(row).toMatchObject({
    session_id: session,
    status: 'completed',
    input_text: 'what is 6 * 7',
    error_message: null,
    lease_until: null,
  })
  expect(row?.created_at).toBeInstanceOf(Date)
  expect(fleet.workers).toContain(row?.owner_id)
  const events = await fleet.query('SELECT seq, event_type, payload, created_at FROM agent_run_events WHERE run_id = $1 ORDER BY seq', [
    run,
  ])
  expect(events.find(({ event_type }) => event_type === 'run:complete')?.payload).toMatchObject({ output: { text: 'The answer is 42.' } })
  expect(events.find(({ event_type }) => event_type === 'stream:chunk')?.payload.chunks[0]).toBe('I use a tool. ')
  const [escaped] = await fleet.query(String.raw`SELECT agent_json('["\u0000", "\\u0000", "\ud800\u0000"]') AS value`)
  expect(escaped?.value).toEqual([String.raw`\u0000`, String.raw`\u0000`, String.raw`\ud800\u0000`])
})

test('Postgres crashes and comes back: the servers live on, and the answer is complete', { timeout: 40_000 }, async () => {
  const { client } = fleet
  const run = await client.send(await client.newSession(), '!slow 20 crash')
  let crashed: Promise<void> | undefined
  const transcript = await client.follow(run, {
    onEvent(event) {
      if (event.type === 'text' && event.content.includes('word-3 ')) crashed ??= fleet.postgres.crash()
    },
  })
  await crashed
  expect(transcript.done).toBe('completed')
  expect(textOf(transcript)).toBe(numbered(20))
  expect((await client.request('GET', '/ready')).status).toBe(200)
})

function numbered(words: number): string {
  return Array.from({ length: words }, (_, i) => `word-${i + 1} `).join('')
}

async function ownerOf(run: string): Promise<string> {
  return (await fleet.client.run(run)).worker_id ?? ''
}

async function killOwner(run: string): Promise<void> {
  await replace(await ownerOf(run), 'SIGKILL')
}

/** Ends a worker, and starts another one in its place. */
async function replace(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  const code = await fleet.endWorker(name, signal)
  await fleet.startWorker(`${name}'`)
  return code
}

function textOfMessage(message: Message | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}
