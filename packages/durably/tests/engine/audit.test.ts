// Who did what: each accepted command with an actor has one entry, a refused one has none.
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { cluster } from '../../src/cluster.ts'
import type { Durably } from '../../src/durably.ts'
import type { AuditFilter } from '../../src/index.ts'
import { type CallName, faulty } from './faulty-store.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()
const ADA = { actor: 'ada' }

/** A job whose runs fail, or wait for a signal. */
function defineJob(durably: Durably) {
  return durably.defineJob({ name: 'job', input: anything }, async (ctx, input) => {
    if (input === 'fails') throw new Error('on purpose')
    if (input === 'waits') await ctx.waitFor('approval')
  })
}

const shown = async (durably: Durably, filter?: AuditFilter) =>
  (await durably.audit.list(filter)).map(({ actor, action, target, detail }) => ({
    actor,
    action,
    id: target.id,
    ...(detail && { detail }),
  }))

describe.each(WORLDS)('the audit on %s', (world) => {
  test('has every command of an actor, and what it left', async () => {
    const { durably, env, soon } = await setup(world)
    const job = defineJob(durably)
    const failing = await job.trigger('fails')
    const waiting = await job.trigger('waits')
    await soon(durably.processUntilIdle())
    const at = new Date(env.wall()).toISOString()
    const { version } = await durably.retry(failing.id, ADA)
    expect(await durably.audit.list()).toEqual([
      {
        id: expect.any(String),
        at,
        actor: 'ada',
        action: 'run:retry',
        target: { kind: 'run', id: failing.id },
        version,
        detail: null,
      },
    ])
    await durably.signal(waiting.id, 'approval', { secret: 'value' }, ADA)
    await durably.cancel(failing.id, ADA)
    await durably.deleteRun(failing.id, ADA)
    const bob = { actor: 'bob' }
    await durably.schedule('nightly', { job, every: '1h', payload: 'p' }, bob)
    await durably.schedules.pause('nightly', bob)
    await durably.schedules.resume('nightly', bob)
    const made = await durably.schedules.trigger('nightly', bob)
    await durably.schedules.delete('nightly', bob)
    await durably.settings.set({ dedupeFor: '1d' }, bob)
    expect((await shown(durably)).toReversed()).toEqual([
      { actor: 'ada', action: 'run:retry', id: failing.id },
      { actor: 'ada', action: 'run:signal', id: waiting.id, detail: { name: 'approval' } },
      { actor: 'ada', action: 'run:cancel', id: failing.id },
      { actor: 'ada', action: 'run:delete', id: failing.id, detail: { jobName: 'job' } },
      { actor: 'bob', action: 'schedule:put', id: 'nightly', detail: { jobName: 'job' } },
      { actor: 'bob', action: 'schedule:pause', id: 'nightly' },
      { actor: 'bob', action: 'schedule:resume', id: 'nightly' },
      { actor: 'bob', action: 'schedule:trigger', id: 'nightly', detail: { runId: made.id } },
      { actor: 'bob', action: 'schedule:delete', id: 'nightly', detail: { jobName: 'job' } },
      { actor: 'bob', action: 'settings:set', id: 'settings', detail: { dedupeFor: '1d' } },
    ])
  })

  test('has decisions without their results, and workers that were switched', async () => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('charge', { effect: 'once' }, () => new Promise(() => {})),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    mortal.faults.die()
    const heir = another({ workerId: 'heir' })
    heir.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('charge', { effect: 'once' }, () => null))
    const fleet = cluster(heir)
    heir.start()
    await env.advance(120_000)
    await heir.decide(id, 'charge', { done: 'a secret result' }, ADA)
    await fleet.drain('heir', ADA)
    await fleet.drain('heir', { actor: 'bob' })
    await heir.workers.attach('heir', ADA)
    expect((await shown(heir)).toReversed()).toEqual([
      { actor: 'ada', action: 'run:decide', id, detail: { step: 'charge', decision: 'done' } },
      { actor: 'ada', action: 'worker:drain', id: 'heir' },
      { actor: 'ada', action: 'worker:attach', id: 'heir' },
    ])
  })

  test('has no entry of what was refused', async () => {
    const { durably } = await setup(world)
    const job = defineJob(durably)
    const { id } = await job.trigger('waits')
    await durably.schedule('nightly', { job, every: '1h', payload: 'p' })
    for (const act of [
      () => durably.retry(id, ADA),
      () => durably.deleteRun(id, ADA),
      () => durably.deleteRun('nobody', ADA),
      () => durably.cancel(id, { ifVersion: 99, ...ADA }),
      () => durably.decide(id, 'step', 'run again', ADA),
      () => durably.signal('nobody', 'approval', 1, ADA),
      () => durably.schedules.pause('nightly', { ifVersion: 99, ...ADA }),
      () => durably.schedules.delete('weekly', ADA),
      () => durably.settings.set({ dedupeFor: '1d' }, { ifVersion: 99, ...ADA }),
      () => durably.settings.set({ dedupeFor: '1ms' }, ADA),
      () => durably.workers.drain('nobody', ADA),
    ])
      await expect(act()).rejects.toThrow()
    // Nor of what changes nothing.
    await durably.schedule('nightly', { job, every: '1h', payload: 'p' }, ADA)
    await durably.schedules.resume('nightly', ADA)
    await durably.settings.set({}, ADA)
    expect(await durably.audit.list()).toEqual([])
  })

  test.each<[CallName, (durably: Durably, id: string) => Promise<unknown>]>([
    ['runs.retry', (durably, id) => durably.retry(id, ADA)],
    ['runs.delete', (durably, id) => durably.deleteRun(id, ADA)],
    ['cluster.writeSettings', (durably) => durably.settings.set({ dedupeFor: '1d' }, ADA)],
    ['cluster.switchSchedule', (durably) => durably.schedules.pause('nightly', ADA)],
    ['cluster.deleteSchedule', (durably) => durably.schedules.delete('nightly', ADA)],
  ])('has one entry if the reply of %s is lost and the command is given again', async (call, act) => {
    const { faults, wrap } = faulty()
    const { durably, soon } = await setup(world, { wrap })
    const job = defineJob(durably)
    const { id } = await job.trigger('fails')
    await durably.schedule('nightly', { job, every: '1h', payload: 'p' })
    await soon(durably.processUntilIdle())
    for (const when of ['before', 'after'] as const) {
      faults.fail(call, { when })
      await expect(act(durably, id)).rejects.toMatchObject({ code: 'store_unavailable' })
      expect(await durably.audit.list(), when).toHaveLength(when === 'before' ? 0 : 1)
    }
    await act(durably, id).catch(() => {})
    expect(await durably.audit.list()).toHaveLength(1)
  })

  test('has one entry for each run that a command about many has changed, also if it was broken off', async () => {
    const { faults, wrap } = faulty()
    const { durably } = await setup(world, { wrap })
    const job = defineJob(durably)
    const ids = (await job.batchTrigger(['a', 'b', 'c'].map((payload) => ({ payload })))).map(({ id }) => id)
    faults.fail('runs.cancel', { when: 'after', skip: 1 })
    await expect(durably.cancelRuns({}, ADA)).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await durably.cancelRuns({}, { actor: 'bob' })).toMatchObject({ count: 1 })
    await durably.deleteRuns({}, { actor: 'bob', limit: 1 })
    expect((await shown(durably)).toReversed()).toEqual([
      { actor: 'ada', action: 'run:cancel', id: ids[0] },
      { actor: 'ada', action: 'run:cancel', id: ids[1] },
      { actor: 'bob', action: 'run:cancel', id: ids[2] },
      { actor: 'bob', action: 'run:delete', id: ids[0], detail: { jobName: 'job' } },
    ])
  })

  test('has each election, and says which process led when', async () => {
    const { durably, another, env } = await setup(world, { workerId: 'first' })
    const job = defineJob(durably)
    await durably.schedule({ job, every: '1s', payload: null })
    durably.start()
    await env.advance(30_000)
    await durably.stop()
    const second = another({ workerId: 'second' })
    defineJob(second)
    second.start()
    await env.advance(30_000)
    expect(await durably.audit.list({ target: { kind: 'leader', id: 'leader' } })).toMatchObject([
      { actor: 'second', action: 'leader:elect', version: 2 },
      { actor: 'first', action: 'leader:elect', version: 1 },
    ])
  })

  test('is found by its conditions, page by page', async () => {
    const { durably, env } = await setup(world)
    const job = defineJob(durably)
    const times: number[] = []
    for (const [i, actor] of ['ada', 'bob', 'ada'].entries()) {
      times.push(env.wall())
      await durably.schedule(`s${i}`, { job, every: '1h', payload: null }, { actor })
      await env.advance(1000)
    }
    const ids = async (filter: AuditFilter) => (await durably.audit.list(filter)).map(({ target }) => target.id)
    expect(await ids({ actor: 'ada' })).toEqual(['s2', 's0'])
    expect(await ids({ target: { kind: 'schedule', id: 's1' } })).toEqual(['s1'])
    expect(await ids({ action: 'schedule:put', before: times[1] as number })).toEqual(['s0'])
    expect(await ids({ after: new Date(times[1] as number) })).toEqual(['s2', 's1'])
    const [first] = await durably.audit.list({ limit: 1 })
    expect(await ids({ cursor: `${first?.at}/${first?.id}`, limit: 1 })).toEqual(['s1'])
  })

  test('refuses bad input', async () => {
    const { durably } = await setup(world)
    for (const filter of [
      { limit: 0 },
      { limit: 1.5 },
      { action: 'run:destroy' },
      { target: { kind: 'job', id: 'a' } },
      { target: 'run' },
      { after: 'yesterday' },
      { cursor: 'here' },
      { who: 'ada' },
    ])
      await expect(durably.audit.list(filter as AuditFilter), JSON.stringify(filter)).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(durably.audit.list({ actor: '' })).rejects.toMatchObject({ code: 'invalid_name' })
    const { id } = await defineJob(durably).trigger('a')
    for (const actor of ['', 'x'.repeat(513), 5 as unknown as string])
      await expect(durably.cancel(id, { actor })).rejects.toMatchObject({ code: 'invalid_name' })
    await expect(durably.cancel(id, { actr: 'ada' } as object)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
  })
})

test('a program that names no actor does not touch the table', async () => {
  const { durably, soon } = await setup('sqlite')
  await sql`DROP TABLE audit`.execute(durably.db)
  const job = defineJob(durably)
  const { id } = await job.trigger('fails')
  await soon(durably.processUntilIdle())
  await durably.retry(id)
  await durably.cancel(id)
  await durably.deleteRun(id)
  await durably.schedule('nightly', { job, every: '1h', payload: null })
  await durably.schedules.pause('nightly')
  await durably.schedules.trigger('nightly')
  await durably.schedules.delete('nightly')
  await durably.settings.set({ dedupeFor: '1d' })
  await expect(durably.cancelRuns({}, ADA)).rejects.toThrow(/audit/)
})
