// Settings of all processes.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { MemoryFiles } from '../../src/testing/memory-files.ts'
import { faulty } from './faulty-store.ts'
import { setup, WORLDS } from './world.ts'

const DAY = 24 * 60 * 60 * 1000

describe.each(WORLDS)('settings on %s', (world) => {
  test('have defaults, and are changed for all processes', async () => {
    const { durably, another, env } = await setup(world)
    const defaults = { dedupeFor: 7 * DAY, auditFor: 366 * DAY, archiveAfter: null, reassignAfter: null, leaderLease: 10_000 }
    expect(await durably.settings.get()).toEqual({ ...defaults, version: 0, updatedAt: null, updatedBy: null })
    const at = new Date(env.wall()).toISOString()
    const changed = { ...defaults, dedupeFor: DAY, archiveAfter: 30 * DAY, version: 1, updatedAt: at, updatedBy: 'ada' }
    expect(await durably.settings.set({ dedupeFor: '1d', archiveAfter: '30d' }, { actor: 'ada' })).toEqual(changed)
    expect(await another().settings.get()).toEqual(changed)
    const back = { ...changed, dedupeFor: 7 * DAY, version: 2, updatedBy: null }
    expect(await another().settings.set({ dedupeFor: null })).toEqual(back)
    expect(await durably.settings.set({ dedupeFor: null, leaderLease: null })).toEqual(back)
  })

  test('that do not differ are not written', async () => {
    const { durably } = await setup(world)
    await durably.settings.set({ dedupeFor: '1d' }, { actor: 'ada' })
    expect(await durably.settings.set({ dedupeFor: DAY }, { actor: 'bob' })).toMatchObject({ version: 1, updatedBy: 'ada' })
    expect(await durably.settings.set({})).toMatchObject({ version: 1, dedupeFor: DAY })
  })

  test('ifVersion refuses what was changed since, and says both versions', async () => {
    const { durably } = await setup(world)
    await durably.settings.set({ dedupeFor: '1d' }, { ifVersion: 0 })
    await expect(durably.settings.set({ dedupeFor: '2d' }, { ifVersion: 0 })).rejects.toMatchObject({
      code: 'version_mismatch',
      expected: 0,
      actual: 1,
    })
    expect(await durably.settings.set({ dedupeFor: '2d' }, { ifVersion: 1 })).toMatchObject({ version: 2, updatedBy: null })
  })

  test('dedupeFor decides how long a key is kept, also of events that were sent before', async () => {
    const { durably, env, soon } = await setup(world)
    await durably.send('a', 1, { dedupeKey: 'k' })
    await soon(durably.processUntilIdle())
    await env.advance(5000)
    expect(await durably.send('a', 2, { dedupeKey: 'k' })).toMatchObject({ isNew: false })
    await durably.settings.set({ dedupeFor: '5s' })
    expect(await durably.send('a', 3, { dedupeKey: 'k' })).toMatchObject({ isNew: true })
  })

  test('two that change them at once both take effect', async () => {
    const { faults, wrap } = faulty()
    const { durably, another, soon } = await setup(world, { wrap })
    const release = faults.hold('cluster.writeSettings')
    const first = durably.settings.set({ dedupeFor: '1d' })
    await another().settings.set({ dedupeFor: '2d' })
    release()
    expect(await soon(first)).toMatchObject({ version: 2, dedupeFor: DAY })
  })

  test('archiveAfter holds for all processes that archive; without it each has its own option', async () => {
    const files = new MemoryFiles()
    const { durably: patient, another, env, within, store } = await setup(world, { archive: { files, after: '30d' } })
    const hasty = another({ archive: { files, after: '1d' } })
    const jobs = [patient, hasty].map((durably) => durably.defineJob({ name: 'job', input: z.unknown() }, async () => {}))
    const tidiedBy = async (durably: Durably) => {
      const run = await jobs[0]?.trigger(null)
      await within(60_000, patient.processUntilIdle())
      await env.advance(2 * DAY)
      await within(60_000, durably.processUntilIdle())
      return Boolean((await store.runs.get(run?.id ?? ''))?.logRef)
    }
    expect([await tidiedBy(patient), await tidiedBy(hasty)]).toEqual([false, true])
    await patient.settings.set({ archiveAfter: '30d' })
    expect([await tidiedBy(patient), await tidiedBy(hasty)]).toEqual([false, false])
    await patient.settings.set({ archiveAfter: '1d' })
    expect([await tidiedBy(hasty), await tidiedBy(patient)]).toEqual([true, true])
    await patient.settings.set({ archiveAfter: null })
    expect([await tidiedBy(patient), await tidiedBy(hasty)]).toEqual([false, true])
  })

  test('leaderLease decides how soon a leader that is gone is replaced, in processes that know nothing of it', async () => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { workerId: 'first', wrap: mortal.wrap })
    const job = durably.defineJob({ name: 'job', input: z.unknown() }, async () => {})
    await durably.schedule({ job, every: '1s', payload: null })
    await durably.settings.set({ leaderLease: '60s' })
    durably.start()
    await env.advance(5000)
    mortal.faults.die()
    const heir = another({ workerId: 'second' })
    heir.defineJob({ name: 'job', input: z.unknown() }, async () => {})
    heir.start()
    await env.advance(50_000)
    expect(await heir.leader()).toMatchObject({ workerId: 'first', isLeading: true })
    await env.advance(12_000)
    expect(await heir.leader()).toMatchObject({ workerId: 'second', isLeading: true, epoch: 2 })
  })

  test('bad input is refused', async () => {
    const { durably } = await setup(world)
    for (const [change, options] of [
      [{ dedupeFor: 999 }, {}],
      [{ dedupeFor: '367d' }, {}],
      [{ auditFor: '1m' }, {}],
      [{ archiveAfter: 0 }, {}],
      [{ reassignAfter: '2d' }, {}],
      [{ leaderLease: '1s' }, {}],
      [{ leaderLease: 'long' }, {}],
      [{ dedupeFr: '1d' }, {}],
      [{}, { by: 'ada' }],
    ])
      await expect(durably.settings.set(change as object, options as object)).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(durably.settings.set({}, { actor: '' })).rejects.toMatchObject({ code: 'invalid_name' })
  })
})
