// What an operator does with runs, on a real SQLite file and a real Postgres.
import type { AuditEntry, Explanation, Run, Step } from '@coji/durably'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Timeline } from '../src/timeline.ts'
import { cli, json, openAt, PLACES } from './cli.ts'

async function setup(create: () => Promise<string>) {
  const db = await create()
  const durably = await openAt(db)
  let isBroken = true
  const order = durably.defineJob({ name: 'order', input: z.object({ id: z.number() }) }, async (ctx, { id }) => {
    await ctx.run('reserve', () => id)
    await ctx.run('charge', () => {
      if (isBroken) throw new Error('card refused')
      return 'paid'
    })
    const approval = await ctx.waitFor('approval')
    return { id, approval }
  })
  const repair = () => {
    isBroken = false
  }
  return { db, durably, order, repair, at: ['--db', db] }
}

describe.each(PLACES)('on $name', ({ create }) => {
  test('a failed run is found, looked at, explained, retried, signalled and completes', async () => {
    const { durably, at, repair } = await setup(create)
    const triggered = await json<Run>(['trigger', 'order', '--input', '{"id":7}', '--label', 'tenant=acme', ...at])
    expect(triggered).toMatchObject({ status: 'pending', payload: { id: 7 }, labels: { tenant: 'acme' } })
    await durably.processUntilIdle()

    const [failed] = await json<Run[]>(['runs', '--phase', 'failed', '--job', 'order', '--label', 'tenant=acme', '--since', '1h', ...at])
    expect(failed).toMatchObject({ id: triggered.id, error: 'card refused' })
    expect(await json(['runs', '--phase', 'completed', ...at])).toEqual([])
    expect(await json(['runs', '--cluster-state', 'FAILED', ...at])).toHaveLength(1)
    expect(await json(['runs', '--cluster-state', 'TIMED_OUT', '--cluster-state', 'PENDING', ...at])).toEqual([])

    const page = await json<{ run: Run; steps: Step[]; timeline: Timeline }>(['run', triggered.id, ...at])
    expect(page.steps.map(({ name, status }) => [name, status])).toEqual([
      ['reserve', 'completed'],
      ['charge', 'failed'],
    ])
    expect(page.timeline.stretches).toMatchObject([{ workerId: failed?.workerId, end: 'failed: card refused' }])
    const { out } = await cli(['run', triggered.id, ...at])
    expect(out).toMatch(/✓ reserve/)
    expect(out).toMatch(/✗ charge {2}card refused/)

    expect((await cli(['explain', triggered.id, ...at])).out).toContain(`durably retry ${triggered.id}`)
    repair()
    expect(await cli(['retry', triggered.id, ...at])).toMatchObject({ code: 0, out: `${triggered.id}  retried\n` })
    await durably.processUntilIdle()

    const explanation = await json<Explanation>(['explain', triggered.id, ...at])
    expect(explanation.remedy).toEqual({ do: 'signal', runId: triggered.id, name: 'approval' })
    expect(await cli(['signal', triggered.id, 'approval', '-', ...at], { input: '{"by":"Ada"}' })).toMatchObject({ code: 0 })
    await durably.processUntilIdle()
    const ended = await json<{ run: Run }>(['run', triggered.id, ...at])
    expect(ended.run).toMatchObject({ status: 'completed', output: { id: 7, approval: { by: 'Ada' } } })
  })

  test('many runs are counted before somebody says yes, and then cancelled', async () => {
    const { durably, order, at } = await setup(create)
    await order.batchTrigger(Array.from({ length: 205 }, (_, id) => ({ payload: { id } })))
    const asked = await cli(['cancel', '--job', 'order', ...at])
    expect(asked).toMatchObject({ code: 1, out: '' })
    expect(asked.err).toContain('205 runs match; add --yes to cancel them')
    expect(await cli(['cancel', '--job', 'order', '--yes', ...at])).toMatchObject({ code: 0, out: '205 runs cancelled\n' })
    expect(await json(['stats', ...at])).toMatchObject({ cancelled: 205, pending: 0 })
    expect((await cli(['purge', '--older-than', '1h', ...at])).out).toBe('0 runs removed\n')
    expect((await cli(['purge', '--older-than', '0s', '--limit', '5', ...at])).out).toBe('5 runs removed\n')
    expect((await cli(['purge', '--older-than', '0s', '--status', 'cancelled', ...at])).out).toBe('200 runs removed\n')
    expect(await durably.getRuns()).toEqual([])
  })

  test('who says who they are is found in the audit', async () => {
    const { order, at } = await setup(create)
    const [first, second, third] = await order.batchTrigger([1, 2, 3].map((id) => ({ payload: { id } })))
    await cli(['cancel', first?.id ?? '', ...at])
    expect(await cli(['audit', ...at])).toMatchObject({ code: 0, out: '', err: 'nothing was recorded that matches\n' })
    await cli(['cancel', second?.id ?? '', '--as', 'ada', ...at])
    await cli(['signal', third?.id ?? '', 'approval', '"a secret"', ...at], { env: { DURABLY_ACTOR: 'bob' } })
    await cli(['cancel', '--job', 'order', '--yes', '--as', 'bob', ...at])
    const entries = await json<AuditEntry[]>(['audit', ...at])
    expect(entries.map(({ actor, action, target }) => [actor, action, target.id])).toEqual([
      ['bob', 'run:cancel', third?.id],
      ['bob', 'run:signal', third?.id],
      ['ada', 'run:cancel', second?.id],
    ])
    expect(await json(['audit', '--actor', 'ada', '--since', '1h', ...at])).toHaveLength(1)
    expect(await json(['audit', 'run', third?.id ?? '', '--action', 'run:signal', ...at])).toHaveLength(1)
    const { out } = await cli(['audit', ...at])
    expect(out).toMatch(/ago +bob +run:signal +\w+ +\{"name":"approval"\}/)
    expect(out).not.toContain('secret')
    expect(await cli(['audit', 'run', ...at])).toMatchObject({ code: 2, err: expect.stringContaining('which run') })
    expect(await cli(['audit', 'leader', ...at])).toMatchObject({ code: 0 })
  })

  test('a schedule is listed, paused, triggered by hand and deleted', async () => {
    const { durably, order, at } = await setup(create)
    await durably.schedule('nightly', { job: order, cron: '0 3 * * *', timezone: 'Europe/Berlin', payload: { id: 1 } })
    expect((await cli(['schedules', ...at])).out).toMatch(/nightly +order +0 3 \* \* \* \(Europe\/Berlin\) +in /)
    expect(await json<string[]>(['schedules', 'next', 'nightly', '--count', '3', ...at])).toHaveLength(3)
    expect((await cli(['schedules', 'pause', 'nightly', ...at])).out).toContain('paused')
    const run = await json<Run>(['schedules', 'trigger', 'nightly', ...at])
    expect(await json<Run[]>(['runs', '--schedule', 'nightly', ...at])).toMatchObject([{ id: run.id }])
    expect(await cli(['schedules', 'delete', 'nightly', ...at])).toMatchObject({ code: 0 })
    const gone = await cli(['schedules', 'pause', 'nightly', ...at])
    expect(gone).toMatchObject({ code: 1 })
    expect(gone.err).toContain('durably schedules lists those that are there')
  })

  test('migrate prints, checks and applies', async () => {
    const db = await create()
    const at = ['--db', db]
    if (!db.startsWith('postgres')) {
      expect(await cli(['migrate', '--check', ...at])).toMatchObject({ code: 3 })
      expect(await cli(['runs', ...at])).toMatchObject({ code: 3 })
    } else {
      expect(await cli(['migrate', '--check', ...at])).toMatchObject({ code: 1 })
      expect((await cli(['migrate', '--print', ...at])).out).toMatch(/^CREATE TABLE "schema_versions"|CREATE TABLE "runs"/m)
      const runs = await cli(['runs', ...at])
      expect(runs).toMatchObject({ code: 3 })
      expect(runs.err).toContain('durably migrate creates or updates the tables')
    }
    expect((await cli(['migrate', ...at])).out).toMatch(/migrated from version 0 to \d+/)
    expect(await cli(['migrate', '--check', ...at])).toMatchObject({ code: 0 })
    expect((await cli(['migrate', '--print', ...at])).out).toBe('\n')
    const durably = await openAt(db)
    await durably.db.insertInto('schema_versions').values({ version: 99, applied_at: 'later', oldest_code: 99 }).execute()
    const tooNew = await cli(['migrate', ...at])
    expect(tooNew).toMatchObject({ code: 3 })
    expect(tooNew.err).toContain('npm install @coji/durably@latest @coji/durably-cli@latest')
  })

  test('--watch shows the list again when it changes, until it is interrupted', async () => {
    const { order, at } = await setup(create)
    const stop = new AbortController()
    const lists: number[] = []
    const onOut = (text: string) => {
      lists.push((JSON.parse(text) as Run[]).length)
      if (lists.length === 1) void order.trigger({ id: 1 })
      else stop.abort()
    }
    expect(await cli(['runs', '--watch', '--json', ...at], { interrupted: stop.signal, onOut })).toMatchObject({ code: 0, err: '' })
    expect(lists).toEqual([0, 1])
  })
})

test('an effect that was interrupted is decided', async () => {
  const { db, durably, at } = await setup(PLACES[0]?.create ?? (async () => ''))
  const pay = durably.defineJob({ name: 'pay', input: z.object({}) }, async (ctx) => ctx.run('charge', { effect: 'once' }, () => 'ran'))
  const run = await pay.trigger({})
  // As a worker that was lost in the middle of the effect leaves it.
  const crashed = await openAt(db)
  await crashed.db
    .updateTable('runs')
    .set({ effects: JSON.stringify([{ name: 'charge', generation: 0 }]) })
    .where('id', '=', run.id)
    .execute()
  await durably.processUntilIdle()
  expect((await cli(['explain', run.id, ...at])).out).toContain(`durably decide ${run.id} charge`)
  expect(await cli(['decide', run.id, 'charge', ...at])).toMatchObject({ code: 2 })
  expect(await cli(['decide', run.id, 'charge', '--done', '"by hand"', ...at])).toMatchObject({ code: 0 })
  await durably.processUntilIdle()
  expect(await pay.getRun(run.id)).toMatchObject({ status: 'completed', output: 'by hand' })
})
