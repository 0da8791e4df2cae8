// Approvals on the fleet: workers and servers are killed between each two moments of a question, and the tool works once.
import { expect, test } from 'vitest'
import type { ApiErrorBody } from '../dist/wire/service.js'
import { until } from '../tests/rig/until.ts'
import { bound } from './any-instance.ts'
import { LEASE_MS, type Stage } from './stage.ts'

/** Long enough to be killed in the middle of. */
const SLOW = 'sql: with recursive c(x) as (select 1 union all select x + 1 from c where x < 4000000) select count(*) from c'

export function approvals(stage: () => Stage): void {
  const recorded = async (run: string, step: string) =>
    (await stage().fleet.query('SELECT 1 FROM steps WHERE run_id = $1 AND name = $2', [run, step])).length > 0
  const kill = async (run: string) => stage().replaceWorker(await stage().ownerOf(run), 'SIGKILL')
  const decide = (client: Stage['client'], run: string, decision: 'approve' | 'deny') =>
    client.request<ApiErrorBody>('POST', `/runs/${run}/approvals/tool-0-0`, { body: { decision } })
  const asked = async (message = 'sql: select 6 * 7') => {
    const { client } = stage()
    const session = await client.newSession()
    const run = await client.send(session, message)
    await until(() => recorded(run, 'ask-tool-0-0'))
    return { run, session }
  }
  const ends = async (run: string, content: string | RegExp) => {
    const { fleet, client } = stage()
    const transcript = await client.follow(run)
    expect(transcript.done).toBe('completed')
    expect([...transcript.results.values()]).toEqual([expect.stringMatching(content)])
    const count = async (step: string) =>
      (await fleet.query("SELECT 1 FROM steps WHERE run_id = $1 AND name = $2 AND status = 'completed'", [run, step])).length
    expect(await Promise.all(['ask-tool-0-0', 'approve-tool-0-0', 'tool-0-0', 'save-tool-0-0'].map(count))).toEqual([1, 1, 1, 1])
  }

  test('the worker is killed as soon as it has asked', async () => {
    const { run } = await asked()
    const { worker_id } = await stage().client.run(run)
    await stage().replaceWorker(worker_id ?? '', 'SIGKILL')
    expect((await decide(stage().b, run, 'approve')).status).toBe(202)
    await ends(run, /42/)
  })

  test('all workers and both servers are killed while it waits; two people decide at once, and the next worker goes on', async () => {
    const { fleet, a, b, client, timed } = bound(stage())
    const { run, session } = await asked()
    await until(async () => (await client.run(run)).status === 'queued')
    const next = await client.send(session, 'what is 9 * 9')
    const lost = fleet.workers
    await Promise.all(lost.map((name) => fleet.endWorker(name, 'SIGKILL')))
    await fleet.killApis()
    await fleet.restartApis()
    const answers = await Promise.all([
      decide(a, run, 'approve'),
      decide(b, run, 'approve'),
      decide(a, run, 'deny'),
      decide(b, run, 'deny'),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409])
    const refused = answers.filter(({ status }) => status === 409).map(({ body }) => body.error)
    for (const { code, message } of refused)
      expect([code, message]).toEqual(['already_decided', expect.stringMatching(/^\S+ has (approved|denied) this already, at 2/)])
    expect((await client.run(run)).status).toBe('queued')
    await Promise.all(lost.map((name) => fleet.startWorker(`${name}'`)))
    const began = performance.now()
    await ends(run, answers.findIndex(({ status }) => status === 202) < 2 ? /42/ : /denied/)
    timed('approval decided without workers: ended after a worker was there', performance.now() - began, LEASE_MS)
    expect((await client.follow(next)).done).toBe('completed')
    const [first, second] = await Promise.all([client.run(run), client.run(next)])
    expect(Date.parse(second.started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(first.finished_at ?? ''))
  })

  test('the worker that goes on is killed before the decision is recorded, and again while the tool works', async () => {
    const { client } = stage()
    const { run } = await asked(SLOW)
    await until(async () => (await client.run(run)).status === 'queued')
    const follows = client.follow(run, {
      onEvent(event) {
        if (event.type === 'approval_decision') moments.push('decided')
        if (event.type === 'step_start' && event.kind === 'tool') moments.push('works')
      },
    })
    const moments: string[] = []
    await decide(client, run, 'approve')
    await kill(run)
    await until(async () => moments.includes('works'))
    await kill(run)
    await follows
    await ends(run, /4000000/)
    expect((await client.run(run)).attempts).toBeGreaterThanOrEqual(4)
  })

  test('the worker is killed between the work of the tool and the commit of its files', async () => {
    const { client, fleet } = stage()
    const { run, session } = await asked('sql: create table t (x); insert into t values (7); select x from t')
    await until(async () => (await client.run(run)).status === 'queued')
    const lock = await fleet.connect()
    await lock.query('BEGIN')
    await lock.query('SELECT 1 FROM agent_sessions WHERE session_id = $1 FOR UPDATE', [session])
    await decide(client, run, 'approve')
    await until(() => recorded(run, 'tool-0-0'))
    await kill(run)
    await lock.end()
    await ends(run, /7/)
    const files = await client.request<{ files: { path: string }[] }>('GET', `/sessions/${session}/files`)
    expect(files.body.files.map(({ path }) => path)).toEqual(['data.db'])
  })
}
