// One ClusterClient, wherever it asks: the same answers beside the engine and across HTTP.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type AuditFilter, httpClusterClient, localClusterClient } from '../../src/client/cluster/index.ts'
import { cluster } from '../../src/cluster.ts'
import { DurablyError } from '../../src/model/errors.ts'
import { setup as setupEngine } from '../engine/world.ts'
import { CLIENTS, type ClientName, serve, URL_OF_SERVER } from './world.ts'

async function setup(name: ClientName) {
  const world = await setupEngine('memory', { workerId: 'api' })
  const { durably, env } = world
  durably.defineJob({ name: 'report', input: z.unknown() }, async (_, payload) => payload)
  const client = name === 'local' ? localClusterClient(durably) : httpClusterClient({ url: URL_OF_SERVER, fetch: serve(world), env })
  return { ...world, client }
}

const refused = (code: string, fields: object = {}) => expect.objectContaining({ constructor: DurablyError, code, ...fields })

describe.each(CLIENTS)('the %s client', (name) => {
  test('makes, reads, pauses, triggers and deletes schedules', async () => {
    const { client, durably, within } = await setup(name)
    const { schedules } = client
    const payload = { at: new Date(5) }
    const made = await within(100, schedules.put('nightly/1', { job: 'report', cron: '0 3 * * *', payload }))
    expect(made).toMatchObject({ id: 'nightly/1', jobName: 'report', payload })
    expect(await within(100, schedules.get('nightly/1'))).toEqual(await durably.schedules.get('nightly/1'))
    expect(await within(100, schedules.next('nightly/1', 2))).toEqual(await durably.schedules.next('nightly/1', 2))
    const paused = await within(100, schedules.pause('nightly/1', { ifVersion: made.version }))
    expect(paused).toMatchObject({ paused: true, version: made.version + 1 })
    await expect(within(100, schedules.resume('nightly/1', { ifVersion: made.version }))).rejects.toEqual(
      refused('version_mismatch', { expected: made.version, actual: paused.version }),
    )
    const run = await within(100, schedules.trigger('nightly/1'))
    expect(await durably.getRun(run.id)).toMatchObject({ jobName: 'report', payload })
    await within(100, schedules.delete('nightly/1'))
    expect(await within(100, schedules.get('nightly/1'))).toBeNull()
    await expect(within(100, schedules.pause('nightly/1'))).rejects.toEqual(refused('schedule_not_found'))
  })

  test('lists all schedules, also more than a server returns at once', async () => {
    const { client, durably, within } = await setup(name)
    const ids = Array.from({ length: 203 }, (_, i) => `s${1000 + i}`)
    for (const id of ids) await durably.schedule(id, { job: 'report', every: '1h', payload: null })
    const listed = async (options?: object) => (await within(1000, client.schedules.list(options))).map(({ id }) => id)
    expect(await listed()).toEqual(ids)
    expect(await listed({ limit: 2, cursor: 's1000' })).toEqual(['s1001', 's1002'])
    await expect(listed({ limt: 2 })).rejects.toEqual(refused('invalid_argument'))
  })

  test('lists workers, and drains, detaches and attaches them', async () => {
    const { client, another, env, within } = await setup(name)
    expect(await within(100, client.workers.list())).toEqual([])
    const worker = another({ workerId: 'machine/7', concurrency: 3 })
    worker.defineJob({ name: 'report', input: z.unknown() }, async () => {})
    cluster(worker, { labels: { gpu: 'yes' }, version: 'v1' })
    worker.start()
    await env.advance(2000)
    const [registered] = await within(100, client.workers.list())
    expect(registered).toMatchObject({ id: 'machine/7', state: 'attached', labels: { gpu: 'yes' }, capacity: 3, jobNames: ['report'] })
    for (const [verb, state] of [
      ['drain', 'draining'],
      ['detach', 'detached'],
      ['attach', 'attached'],
    ] as const) {
      await within(100, client.workers[verb]('machine/7'))
      expect(await within(100, client.workers.list())).toMatchObject([{ id: 'machine/7', state }])
    }
    for (const nobody of ['nobody', '..', 'ü/"'])
      await expect(within(100, client.workers.drain(nobody))).rejects.toEqual(refused('worker_not_found'))
  })

  test('says who leads', async () => {
    const { client, durably, env, within } = await setup(name)
    expect(await within(100, client.leader())).toBeNull()
    await durably.schedule({ job: 'report', every: '1s', payload: null })
    durably.start()
    await env.advance(3000)
    expect(await within(100, client.leader())).toMatchObject({ workerId: 'api', isLeading: true, epoch: 1 })
  })

  test('reads settings, and changes them by version', async () => {
    const { client, durably, within } = await setup(name)
    const before = await within(100, client.settings.get())
    const changed = await within(100, client.settings.set({ dedupeFor: '1d' }, { ifVersion: before.version }))
    expect(changed).toMatchObject({ dedupeFor: 86_400_000, version: before.version + 1 })
    expect(await durably.settings.get()).toEqual(changed)
    await expect(within(100, client.settings.set({ dedupeFor: '2d' }, { ifVersion: before.version }))).rejects.toEqual(
      refused('version_mismatch', { expected: before.version, actual: changed.version }),
    )
    await expect(within(100, client.settings.set({ dedupeFor: '1ms' }))).rejects.toEqual(refused('invalid_argument'))
  })

  test('reads the audit, also more than a server returns at once', async () => {
    const { client, durably, env, within } = await setup(name)
    for (let i = 0; i < 203; i++) await durably.schedule(`s${i}`, { job: 'report', every: '1h', payload: null }, { actor: `user ${i}` })
    await env.advance(1000)
    const middle = env.wall()
    await durably.settings.set({ dedupeFor: '1d' }, { actor: 'ada' })
    const list = (filter?: AuditFilter) => within(1000, client.audit.list(filter))
    expect(await list({ limit: 300 })).toEqual(await durably.audit.list({ limit: 300 }))
    expect(await list()).toHaveLength(100)
    expect(await list({ actor: 'user 7', target: { kind: 'schedule', id: 's7' } })).toMatchObject([{ action: 'schedule:put', version: 1 }])
    for (const after of [middle, new Date(middle), new Date(middle).toISOString()])
      expect(await list({ after, action: 'settings:set' })).toMatchObject([{ actor: 'ada', detail: { dedupeFor: '1d' } }])
    expect(await list({ before: middle, action: 'settings:set' })).toEqual([])
    const [newest] = await list({ limit: 1 })
    expect(await list({ cursor: `${newest?.at}/${newest?.id}`, limit: 1 })).toMatchObject([{ target: { id: 's202' } }])
    await expect(list({ limit: 0 })).rejects.toEqual(refused('invalid_argument'))
    await expect(list({ who: 'ada' } as object)).rejects.toEqual(refused('invalid_argument'))
  })
})
