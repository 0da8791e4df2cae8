// The audit: each accepted command with an actor has one entry, a refused one has none.
import type { AuditAction, AuditKind } from '../../model/audit.ts'
import { type Audited, type AuditQuery, type AuditRow, type NewAuditEntry, OUTDATED_MAX } from '../../store/cluster/audit.ts'
import { DEFAULT_SETTINGS } from '../../store/cluster/settings.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { candidate, clusterOf, LEAD_MS, NIGHTLY, newSchedule, put, scheduledRun, workerEntry } from './cluster-world.ts'
import { create, get, inStatus, newRun } from './world.ts'

const PAGE = 100

function entry(world: World, action: AuditAction, targetId: string, over: Partial<NewAuditEntry> = {}): Required<Audited> {
  const targetKind = action.split(':')[0] as AuditKind
  return { audit: { id: world.env.id(), actor: 'ada', action, targetKind, targetId, detail: null, ...over } }
}

function find(world: World, query: Partial<AuditQuery> = {}): Promise<AuditRow[]> {
  return clusterOf(world).findAudit({ limit: PAGE, ...query })
}

/** Does something twice with the same arguments: the second time, it was done already. */
async function onlyOnce(world: World, what: string, { audit }: Required<Audited>, version: number | null, act: () => Promise<unknown>) {
  const before = (await find(world)).length
  const createdAt = world.env.wall()
  for (const time of ['at first', 'sent again']) {
    await act()
    const [newest, ...others] = await find(world)
    deepEqual(newest, { ...audit, createdAt, version }, `${what}, ${time}`)
    equal(others.length, before, `${what}: the entries before it, ${time}`)
  }
  await world.env.advance(1)
}

async function recordsNothing(world: World, what: string, act: () => Promise<unknown>): Promise<void> {
  const before = await find(world)
  await act()
  deepEqual(await find(world), before, what)
}

export const auditChapter = chapter('audit', {
  'a command about a run has one entry, with the version that it leaves': async (world) => {
    const { runs } = world.store
    for (const [verb, status] of [
      ['cancel', 'pending'],
      ['cancel', 'running'],
      ['retry', 'failed'],
      ['delete', 'completed'],
    ] as const) {
      const { id } = await inStatus(world, status, `${verb} ${status}`)
      const { version } = await get(world, id)
      const options = entry(world, `run:${verb}`, id, { detail: '{"jobName":"a"}' })
      await onlyOnce(world, `${verb} of a ${status} run`, options, verb === 'delete' ? null : version + 1, () => runs[verb](id, options))
    }
  },

  'a command about a run that is refused has no entry': async (world) => {
    for (const [verb, status] of [
      ['cancel', 'completed'],
      ['retry', 'pending'],
      ['delete', 'running'],
    ] as const) {
      const { id } = await inStatus(world, status, `${verb} ${status}`)
      const act = (ifVersion?: number) => () =>
        world.store.runs[verb](id, { ...entry(world, `run:${verb}`, id), ...(ifVersion !== undefined && { ifVersion }) })
      await recordsNothing(world, `${verb} of a ${status} run`, act())
      await recordsNothing(world, `${verb} of another version`, act(99))
    }
    const id = world.env.id()
    for (const verb of ['cancel', 'retry', 'delete'] as const)
      await recordsNothing(world, `${verb} of no run`, () => world.store.runs[verb](id, entry(world, `run:${verb}`, id)))
  },

  'a command that names another version has no entry, though it would be accepted': async (world) => {
    for (const [verb, status] of [
      ['cancel', 'pending'],
      ['retry', 'failed'],
      ['delete', 'failed'],
    ] as const) {
      const { id } = await inStatus(world, status, `${verb} ${status}`)
      await recordsNothing(world, verb, () => world.store.runs[verb](id, { ...entry(world, `run:${verb}`, id), ifVersion: 99 }))
    }
  },

  'without an entry nothing is recorded': async (world) => {
    const { id } = await inStatus(world, 'pending', 'plain')
    await world.store.runs.cancel(id)
    await put(world)
    deepEqual(await find(world), [], 'entries')
  },

  'a cancel that reaches only runs below is recorded, once': async (world) => {
    const { runs } = world.store
    const parent = await create(world)
    await runs.cancel(parent.id)
    const [late] = await runs.create([newRun(world, { parentRunId: parent.id })])
    equal(late?.run.status, 'pending', 'a run that was triggered too late to be cancelled')
    const options = entry(world, 'run:cancel', parent.id)
    await onlyOnce(world, 'the cancel', options, (await get(world, parent.id)).version, () => runs.cancel(parent.id, options))
  },

  'a signal that is stored has an entry, and one that comes second has none': async (world) => {
    const { signals } = world.store
    const { id: runId } = await create(world)
    const signal = { id: 'signal', runId, name: 'approval', value: 'true', createdAt: '2030-01-01T00:00:00.000Z' }
    const options = entry(world, 'run:signal', runId, { detail: '{"name":"approval"}' })
    await onlyOnce(world, 'the signal', options, null, () => signals.send(signal, options))
    await recordsNothing(world, 'another one', () => signals.send({ ...signal, id: 'other' }, entry(world, 'run:signal', runId)))
    const ended = await inStatus(world, 'completed', 'ended')
    await recordsNothing(world, 'one of a run that has ended', () =>
      signals.send({ ...signal, id: 'late', runId: ended.id }, entry(world, 'run:signal', ended.id)),
    )
  },

  'each change of a schedule has an entry, and one of another version has none': async (world) => {
    const cluster = clusterOf(world)
    const of = (action: AuditAction) => entry(world, action, NIGHTLY)
    const created = of('schedule:put')
    await onlyOnce(world, 'create', created, 1, () => cluster.putSchedule(newSchedule(world), created))
    const defined = of('schedule:put')
    await onlyOnce(world, 'define anew', defined, 2, () => cluster.putSchedule(newSchedule(world, { version: 1, payload: '2' }), defined))
    const paused = of('schedule:pause')
    const change = { id: NIGHTLY, version: 2, paused: true, nextAt: world.env.wall() }
    await onlyOnce(world, 'pause', paused, 3, () => cluster.switchSchedule(change, paused))
    const triggered = of('schedule:trigger')
    const trigger = { scheduleId: NIGHTLY, version: 3, run: scheduledRun(world) }
    await onlyOnce(world, 'trigger', triggered, 3, () => cluster.triggerSchedule(trigger, triggered))
    for (const act of [
      () => cluster.putSchedule(newSchedule(world), of('schedule:put')),
      () => cluster.putSchedule(newSchedule(world, { version: 7 }), of('schedule:put')),
      () => cluster.switchSchedule({ ...change, version: 7 }, of('schedule:resume')),
      () => cluster.triggerSchedule({ ...trigger, version: 7, run: scheduledRun(world) }, of('schedule:trigger')),
      () => cluster.deleteSchedule(NIGHTLY, 7, of('schedule:delete')),
    ])
      await recordsNothing(world, 'another version', act)
    const removed = of('schedule:delete')
    await onlyOnce(world, 'delete', removed, null, () => cluster.deleteSchedule(NIGHTLY, 3, removed))
  },

  'a worker whose state is changed has an entry, and one that has the state already has none': async (world) => {
    const cluster = clusterOf(world)
    await cluster.attend(workerEntry())
    const drained = entry(world, 'worker:drain', 'worker a')
    await onlyOnce(world, 'drain', drained, null, () => cluster.switchWorker('worker a', 'draining', drained))
    await recordsNothing(world, 'drain again', async () =>
      equal(await cluster.switchWorker('worker a', 'draining', entry(world, 'worker:drain', 'worker a')), true, 'the answer'),
    )
    await recordsNothing(world, 'nobody', async () =>
      equal(await cluster.switchWorker('nobody', 'draining', entry(world, 'worker:drain', 'nobody')), false, 'the answer'),
    )
  },

  'settings that are written have an entry, and those of another version have none': async (world) => {
    const cluster = clusterOf(world)
    const first = entry(world, 'settings:set', 'settings')
    const settings = { value: { dedupeForMs: 5000 }, version: 0, updatedBy: 'ada' }
    await onlyOnce(world, 'the first', first, 1, () => cluster.writeSettings(settings, first))
    const second = entry(world, 'settings:set', 'settings')
    await onlyOnce(world, 'the second', second, 2, () => cluster.writeSettings({ ...settings, version: 1 }, second))
    for (const version of [0, 1, 3])
      await recordsNothing(world, `version ${version}`, () =>
        cluster.writeSettings({ ...settings, version }, entry(world, 'settings:set', 'settings')),
      )
  },

  'each new leader has an entry, and one that renews its lease or is refused has none': async (world) => {
    const cluster = clusterOf(world)
    const lead = (token: string) => cluster.lead({ ...candidate(token) })
    const elected = (epoch: number, token: string, createdAt: number): AuditRow => {
      const target = { targetKind: 'leader', targetId: 'leader' } as const
      return { id: `leader:${epoch}`, createdAt, actor: `worker ${token}`, action: 'leader:elect', ...target, version: epoch, detail: null }
    }
    const first = elected(1, 'a', world.env.wall())
    for (const token of ['a', 'a', 'b']) {
      await lead(token)
      deepEqual(await find(world), [first], `after ${token}`)
      await world.env.advance(1)
    }
    await world.env.advance(LEAD_MS)
    const second = elected(2, 'b', world.env.wall())
    await lead('b')
    await lead('a')
    deepEqual(await find(world), [second, first], 'after the lease')
  },

  'of ten commands that saw the same version one is recorded': async (world) => {
    const { id, version } = await create(world)
    const cancels = Array.from({ length: 10 }, () => world.store.runs.cancel(id, { ifVersion: version, ...entry(world, 'run:cancel', id) }))
    await Promise.all(cancels)
    const puts = Array.from({ length: 10 }, () => clusterOf(world).putSchedule(newSchedule(world), entry(world, 'schedule:put', NIGHTLY)))
    await Promise.all(puts)
    const written = Array.from({ length: 10 }, () =>
      clusterOf(world).writeSettings({ value: {}, version: 0, updatedBy: null }, entry(world, 'settings:set', 'settings')),
    )
    await Promise.all(written)
    const actions = (await find(world)).map(({ action }) => action)
    deepEqual(actions.sort(), ['run:cancel', 'schedule:put', 'settings:set'], 'actions')
  },

  'entries are found by what it was done to, who did it, what was done and when, the newest first': async (world) => {
    const cluster = clusterOf(world)
    const began = world.env.wall()
    const all: AuditRow[] = []
    for (const [id, actor] of [
      ['a', 'ada'],
      ['b', 'bob'],
      ['a', 'bob'],
    ] as const) {
      const known = (await cluster.findSchedules({ id, limit: 1 })).schedules[0]
      const { audit } = entry(world, 'schedule:put', id, { actor })
      await cluster.putSchedule(newSchedule(world, { id, version: known?.version ?? null, payload: actor }), { audit })
      all.unshift({ ...audit, createdAt: world.env.wall(), version: (known?.version ?? 0) + 1 })
      await world.env.advance(10)
    }
    const [third, second, first] = all
    deepEqual(await find(world), all, 'all')
    deepEqual(await find(world, { target: { kind: 'schedule', id: 'a' } }), [third, first], 'by target')
    deepEqual(await find(world, { target: { kind: 'run', id: 'a' } }), [], 'by target of another kind')
    deepEqual(await find(world, { actor: 'bob' }), [third, second], 'by actor')
    deepEqual(await find(world, { action: 'schedule:put', limit: 1 }), [third], 'by action')
    deepEqual(await find(world, { action: 'schedule:pause' }), [], 'by another action')
    deepEqual(await find(world, { from: began + 10 }), [third, second], 'from a time')
    deepEqual(await find(world, { before: began + 10 }), [first], 'before a time')
    deepEqual(
      await find(world, { actor: 'bob', target: { kind: 'schedule', id: 'a' }, from: began, before: began + 99 }),
      [third],
      'by all',
    )
    ok(second, 'there is a second one')
    deepEqual(await find(world, { after: second }), [first], 'after the second one')
  },

  'pages of entries of one moment have each entry once': async (world) => {
    const cluster = clusterOf(world)
    for (const id of ['a', 'b', 'c', 'd', 'e']) await cluster.putSchedule(newSchedule(world, { id }), entry(world, 'schedule:put', id))
    const ids: string[] = []
    for (let after: AuditRow | undefined; ids.length < 9; ) {
      const page = await find(world, { limit: 2, ...(after && { after }) })
      if (page.length === 0) break
      ids.push(...page.map(({ targetId }) => targetId))
      after = page.at(-1)
    }
    deepEqual(ids, ['e', 'd', 'c', 'b', 'a'], 'ids')
  },

  'with each entry a few are removed that are older than the setting': async (world) => {
    const cluster = clusterOf(world)
    let version = 0
    const write = async (value: { auditForMs?: number }) => {
      await cluster.writeSettings({ value, version, updatedBy: null }, entry(world, 'settings:set', 'settings'))
      version++
    }
    for (let i = 0; i < OUTDATED_MAX + 2; i++) await write({})
    await world.env.advance(5000)
    await write({})
    equal((await find(world)).length, OUTDATED_MAX + 3, 'by default they are kept')
    await write({ auditForMs: 5001 })
    equal((await find(world)).length, OUTDATED_MAX + 4, 'a millisecond too early')
    await world.env.advance(1)
    await write({ auditForMs: 5001 })
    equal((await find(world)).length, 5, 'some are removed')
    await write({ auditForMs: 5001 })
    equal((await find(world)).length, 4, 'then the rest')
    await world.env.advance(DEFAULT_SETTINGS.auditForMs)
    await cluster.lead({ ...candidate('a') })
    equal((await find(world)).length, 1, 'an election removes them as well')
  },
})
