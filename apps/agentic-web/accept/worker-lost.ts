// B. Worker loss: killed, frozen, stopped or poisoned, every run ends once, and no text is doubled.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { textOf } from '../tests/rig/transcript.ts'
import { until } from '../tests/rig/until.ts'
import { bound } from './any-instance.ts'
import { LEASE_MS, numbered, type Stage } from './stage.ts'

const ENDS = ['run:complete', 'run:fail', 'run:cancel']

export function workerLost(stage: () => Stage): void {
  test('B6 its owner is killed in the third of four calls of the model: only that call is repeated', async () => {
    const { client, fleet, timed } = bound(stage())
    const run = await client.send(await client.newSession(), '!steps 3 3 b6')
    let killedAt = 0
    let resumedAt = 0
    const transcript = await client.follow(run, {
      onEvent(event) {
        if (event.type === 'run_start' && killedAt > 0) resumedAt ||= performance.now()
        if (killedAt > 0 || event.type !== 'text' || event.step_id !== 'model-2-1') return
        killedAt = performance.now()
        void stage()
          .ownerOf(run)
          .then((owner) => stage().replaceWorker(owner, 'SIGKILL'))
      },
    })
    expect(transcript).toMatchObject({ done: 'completed', restarts: ['worker_lost'], starts: 2 })
    expect(textOf(transcript)).toMatch(/All steps are done. The file had these lengths: 1, 2, 3\.$/)
    const calls = (await fleet.requests()).filter(({ asked }) => asked === '!steps 3 3 b6').map((request) => request.calls)
    expect(calls).toEqual([0, 1, 2, 2, 3])
    timed('B6 taken over after', resumedAt - killedAt, LEASE_MS + 2000)
  })

  test('B7 its owner is killed in the middle of a tool: the tool works again, and the file is changed once', async () => {
    const { client, fleet } = stage()
    const session = await client.newSession()
    const run = await client.send(session, 'run: sleep 1; echo once >> b7.txt; cat b7.txt')
    await until(async () => (await events(stage(), run)).some(({ payload }) => payload.includes('"tool-0-0"')))
    await stage().replaceWorker(await stage().ownerOf(run), 'SIGKILL')
    const transcript = await client.follow(run)
    expect(transcript).toMatchObject({ done: 'completed', restarts: ['worker_lost'] })
    expect([...transcript.results.values()]).toEqual(['once\n'])
    expect(await (await fetch(`${fleet.apiUrls[0]}/api/sessions/${session}/files/b7.txt`)).text()).toBe('once\n')
  })

  test('B7 its owner is killed while a tool acts on the world: the tool is not called again, and the page says that nobody knows', async () => {
    const { client, receiver } = stage()
    let release = () => {}
    receiver.hold = new Promise((resolve) => {
      release = resolve
    })
    const session = await client.newSession()
    const run = await client.send(session, 'notify: b7')
    const page = await stage().openSession(session)
    await page.getByRole('button', { name: 'Approve' }).click()
    await until(async () => receiver.texts.includes('b7'))
    await stage().replaceWorker(await stage().ownerOf(run), 'SIGKILL')
    const transcript = await client.follow(run)
    release()
    expect(transcript).toMatchObject({ done: 'failed', error: { code: 'tool_in_doubt' } })
    expect(receiver.texts.filter((text) => text === 'b7')).toHaveLength(1)
    expect([...receiver.counts.values()].every((count) => count === 1)).toBe(true)
    await page.getByRole('alert').getByText('Nobody knows whether it acted').waitFor()
    await page.close()
    // The session goes on, and sends another one only because it was asked to.
    const again = await client.send(session, 'notify: b7 again')
    await until(
      async () => (await client.request('POST', `/runs/${again}/approvals/tool-0-0`, { body: { decision: 'approve' } })).status === 202,
    )
    expect([...(await client.follow(again)).results.values()]).toEqual(['The message was sent.'])
  })

  test('B8 thirty runs, and ten kills at random: each ends once, with the status that its last event says', async () => {
    const { client, fleet, timed, counted } = bound(stage())
    const began = performance.now()
    const runs = await Promise.all(Array.from({ length: 30 }, async (_, i) => client.send(await client.newSession(), `!steps 3 b8 ${i}`)))
    for (let kill = 0; kill < 10; kill++) {
      await pause(2000)
      const victim = fleet.workers[(kill * 7) % fleet.workers.length] ?? ''
      await stage().replaceWorker(victim, 'SIGKILL')
    }
    const ended = await Promise.all(runs.map((run) => client.follow(run)))
    timed('B8 all ended after', performance.now() - began, 90_000)
    for (const [i, run] of runs.entries()) {
      const types = (await events(stage(), run)).map(({ event_type }) => event_type)
      expect(types.filter((type) => ENDS.includes(type))).toEqual([types.at(-1)])
      expect((await client.run(run)).status).toBe(ended[i]?.done)
    }
    counted('B8 completed', ended.filter(({ done }) => done === 'completed').length)
    expect(await fleet.query("SELECT 1 FROM runs WHERE status = 'running' AND job_name = 'agent-run'")).toEqual([])
  })

  test('B9 a worker that was frozen past its lease writes nothing when it wakes up', async () => {
    const { client, fleet } = stage()
    const run = await client.send(await client.newSession(), '!slow 60 b9')
    const owner = await stage().ownerOf(run)
    await until(async () => (await client.run(run)).last_seq > 8)
    fleet.worker(owner).signal('SIGSTOP')
    await until(async () => (await events(stage(), run)).some(({ event_type }) => event_type === 'run:reclaim'))
    await until(async () => (await stage().ownerOf(run)) !== owner)
    fleet.worker(owner).signal('SIGCONT')
    const transcript = await client.follow(run)
    expect([transcript.done, textOf(transcript)]).toEqual(['completed', numbered(60)])
    const generations = (await events(stage(), run)).flatMap(
      ({ payload }) => (JSON.parse(payload) as { generation?: number }).generation ?? [],
    )
    expect(generations).toEqual(generations.toSorted((x, y) => x - y))
    expect(new Set(generations).size).toBeGreaterThan(1)
  })

  test('B10 a worker that gets SIGTERM ends with 0, and its run goes on elsewhere without waiting for the lease', async () => {
    const { client, fleet, timed } = bound(stage())
    const run = await client.send(await client.newSession(), '!slow 40 10 b10')
    let stoppedAt = 0
    let resumedAt = 0
    let ended: Promise<number | null> | undefined
    const transcript = await client.follow(run, {
      onEvent(event) {
        if (event.type === 'run_start' && stoppedAt > 0) resumedAt ||= performance.now()
        if (stoppedAt > 0 || event.type !== 'text') return
        stoppedAt = performance.now()
        ended = stage()
          .ownerOf(run)
          .then((owner) => stage().replaceWorker(owner, 'SIGTERM'))
      },
    })
    expect(await ended).toBe(0)
    expect(transcript).toMatchObject({ done: 'completed', restarts: ['worker_stopped'] })
    expect(await fleet.query('SELECT recoveries FROM runs WHERE id = $1', [run])).toEqual([{ recoveries: 0 }])
    timed('B10 taken over after', resumedAt - stoppedAt, 2000)
  })

  test('B11 a run that kills its workers is given up after the third, and six others that shared them complete', async () => {
    const { client, fleet, counted } = bound(stage())
    // One worker, so that they share it.
    const [absent = ''] = fleet.workers
    await fleet.endWorker(absent, 'SIGTERM')
    const others = await Promise.all(Array.from({ length: 6 }, async () => client.send(await client.newSession(), '!slow 50')))
    const run = await client.send(await client.newSession(), '!crash-worker')
    for (let lost = 0; lost < 3; lost++) await fleet.replaceLost()
    expect(await client.follow(run)).toMatchObject({ done: 'failed', error: { code: 'worker_lost' } })
    const answers = await Promise.all(others.map((other) => client.follow(other)))
    for (const answer of answers) expect([answer.done, textOf(answer)]).toEqual(['completed', numbered(50)])
    await fleet.startWorker(absent)
    const losses = answers.map(({ restarts }) => restarts.filter((why) => why === 'worker_lost').length)
    counted('B11 losses of the others, at most', Math.max(...losses))
    expect(Math.max(...losses)).toBeGreaterThan(0)
  })

  test('B12 without a worker a run stays queued, the page says so, and it starts soon after one is there', async () => {
    const { client, timed } = bound(stage())
    const start = await stage().fleet.withoutWorkers()
    const session = await client.newSession()
    const run = await client.send(session, '!fast 3')
    const page = await stage().openSession(session)
    await page.locator('.pill', { hasText: 'Waiting for a worker' }).waitFor()
    await pause(15_000)
    expect((await client.run(run)).status).toBe('queued')
    expect(await page.locator('.pill').first().textContent()).toBe('Waiting for a worker')
    await start()
    const began = performance.now()
    await until(async () => (await client.run(run)).started_at !== null)
    timed('B12 started after a worker was ready', performance.now() - began, 1500)
    expect((await client.follow(run)).done).toBe('completed')
    await page.locator('.pill', { hasText: 'Ready' }).waitFor()
    await page.close()
  })

  test('B13 Postgres crashes in the middle of an answer: the servers live on, and the answer is complete', async () => {
    const { client, fleet, timed } = bound(stage())
    const run = await client.send(await client.newSession(), '!slow 30 b13')
    let crashed: Promise<void> | undefined
    const began = performance.now()
    const transcript = await client.follow(run, {
      onEvent(event) {
        if (event.type === 'text' && event.content.includes('word-3 ')) crashed ??= fleet.postgres.crash()
      },
    })
    await crashed
    timed('B13 ended after', performance.now() - began, LEASE_MS + 10_000 + 3000)
    expect([transcript.done, textOf(transcript)]).toEqual(['completed', numbered(30)])
    for (const one of [stage().a, stage().b]) expect((await one.request('GET', '/health')).status).toBe(200)
  })
}

async function events({ fleet }: Stage, run: string): Promise<{ event_type: string; payload: string }[]> {
  return fleet.query('SELECT event_type, payload FROM run_events WHERE run_id = $1 ORDER BY seq', [run])
}
