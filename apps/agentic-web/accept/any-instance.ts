// A. Any instance: whichever server is asked, and whichever worker works, the answer is the same.
import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { AcceptedRun } from '../dist/wire/run.js'
import type { SettingsView } from '../dist/wire/settings.js'
import type { Client } from '../tests/rig/client.ts'
import type { Stage } from './stage.ts'

export function anyInstance(stage: () => Stage): void {
  test('A1 runs and their events are the same on both servers, at once', async () => {
    const { a, b, client, fleet, counted } = bound(stage())
    const session = await client.newSession()
    const early = await a.send(session, '!fast 1')
    expect((await b.request('GET', `/runs/${early}`)).status).toBe(200)
    const runs: string[] = []
    while (runs.length < 100) {
      const more = await Promise.all(
        Array.from({ length: 20 }, async (_, i) => client.send(await client.newSession(), `what is ${i} + ${i}`)),
      )
      await Promise.all(more.map((run) => client.follow(run)))
      runs.push(...more)
    }
    expect(await fleet.query("SELECT id, error FROM runs WHERE job_name = 'agent-run' AND status <> 'completed'")).toEqual([])
    const [one = '', other = ''] = fleet.apiUrls
    let equal = 0
    for (const run of runs) {
      expect(await a.run(run)).toMatchObject({ status: 'completed', error: null })
      expect(await a.run(run)).toEqual(await b.run(run))
      expect(await eventsHash(one, run)).toBe(await eventsHash(other, run))
      equal++
    }
    counted('A1 runs equal on both servers', equal)
  })

  test('A2 twenty requests with one key, over both servers, make one run', async () => {
    const { client, fleet } = stage()
    const session = await client.newSession()
    const send = (message: string) =>
      client.request<AcceptedRun>('POST', '/runs', { body: { session_id: session, message }, headers: { 'Idempotency-Key': 'twenty' } })
    const answers = await Promise.all(Array.from({ length: 20 }, () => send('!fast 2')))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201])
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1)
    expect((await send('!fast 3')).status).toBe(409)
    expect(await fleet.query('SELECT 1 FROM agent_turns WHERE session_id = $1', [session])).toHaveLength(1)
    expect(await fleet.query("SELECT 1 FROM agent_messages WHERE session_id = $1 AND role = 'user'", [session])).toHaveLength(1)
  })

  test('A4 five messages at once to one session are answered one after the other, in the order of acceptance', async () => {
    const { client, fleet, counted } = bound(stage())
    const session = await client.newSession()
    const runs = await Promise.all(Array.from({ length: 5 }, () => client.send(session, '!slow 5')))
    let isOver = false
    let samples = 0
    const watched = (async () => {
      const db = await fleet.connect()
      const ids = runs.map((_, i) => `$${i + 1}`).join()
      for (; !isOver; samples++) {
        const { rowCount } = await db.query(`SELECT 1 FROM runs WHERE status = 'running' AND id IN (${ids})`, runs)
        expect(rowCount).toBeLessThanOrEqual(1)
        await pause(20)
      }
      await db.end()
    })()
    await Promise.all(runs.map((run) => client.follow(run)))
    isOver = true
    await watched
    const views = (await Promise.all(runs.map((run) => client.run(run)))).sort((x, y) => x.turn - y.turn)
    const times = views.flatMap(({ started_at, finished_at }) => [Date.parse(started_at ?? ''), Date.parse(finished_at ?? '')])
    expect(times).toEqual(times.toSorted((x, y) => x - y))
    expect((await client.session(session)).messages.map(({ turn }) => turn)).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    counted('A4 samples with at most one running', samples)
  })

  test('A5 settings that are changed on one server hold on the other, and on both workers, without a restart', async () => {
    const { a, b, client, fleet, timed } = bound(stage())
    // The demo model by the address of any server, which may have any name.
    await change(a, { provider: 'openai-compatible', model: 'local-2', base_url: fleet.demoModelUrl })
    const began = performance.now()
    expect((await b.request<SettingsView>('GET', '/settings')).body.model).toBe('local-2')
    timed('A5 settings seen on the other server', performance.now() - began, 50)
    const unseen = new Set(fleet.workers)
    while (unseen.size > 0) {
      const runs = await Promise.all(Array.from({ length: 8 }, async () => client.send(await client.newSession(), '!fast 1')))
      await Promise.all(runs.map((run) => client.follow(run)))
      for (const run of runs) {
        const { model, worker_id } = await client.run(run)
        expect(model?.model).toBe('local-2')
        unseen.delete(worker_id ?? '')
      }
    }
    await change(a, { provider: 'demo', model: 'demo-scripted-1' })
  })
}

export async function change(client: Client, settings: object): Promise<void> {
  const { body } = await client.request<SettingsView>('GET', '/settings')
  const answer = await client.request('PATCH', '/settings', { body: settings, headers: { 'If-Match': `"${body.version}"` } })
  expect(answer.status).toBe(200)
}

async function eventsHash(url: string, run: string): Promise<string> {
  const text = await (await fetch(`${url}/api/runs/${run}/events`)).text()
  expect(text).toContain('event: done')
  return createHash('sha256').update(text).digest('hex')
}

/** Its functions can be taken out of it. */
export function bound(stage: Stage) {
  const { a, b, client, fleet, proxy } = stage
  return { a, b, client, fleet, proxy, timed: stage.timed.bind(stage), counted: stage.counted.bind(stage) }
}
