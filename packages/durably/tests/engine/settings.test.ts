// Settings of all processes.
import { describe, expect, test } from 'vitest'
import { faulty } from './faulty-store.ts'
import { setup, WORLDS } from './world.ts'

const DAY = 24 * 60 * 60 * 1000

describe.each(WORLDS)('settings on %s', (world) => {
  test('have defaults, and are changed for all processes', async () => {
    const { durably, another, env } = await setup(world)
    expect(await durably.settings.get()).toEqual({ dedupeFor: 7 * DAY, version: 0, updatedAt: null, updatedBy: null })
    const at = new Date(env.wall()).toISOString()
    const changed = { dedupeFor: DAY, version: 1, updatedAt: at, updatedBy: 'ada' }
    expect(await durably.settings.set({ dedupeFor: '1d' }, { actor: 'ada' })).toEqual(changed)
    expect(await another().settings.get()).toEqual(changed)
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

  test('bad input is refused', async () => {
    const { durably } = await setup(world)
    for (const [change, options] of [
      [{ dedupeFor: 999 }, {}],
      [{ dedupeFor: '367d' }, {}],
      [{ dedupeFr: '1d' }, {}],
      [{}, { by: 'ada' }],
    ])
      await expect(durably.settings.set(change as object, options as object)).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(durably.settings.set({}, { actor: '' })).rejects.toMatchObject({ code: 'invalid_name' })
  })
})
