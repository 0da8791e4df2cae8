// Signals: they are kept until the run asks, the first under a name wins, and a run that is parked for one goes on.
import { NEVER_MS } from '../../model/wait.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import {
  claim,
  complete,
  create,
  fail,
  get,
  held,
  inStatus,
  mustClaim,
  newSignal,
  type Owner,
  park,
  recordFailedStep,
  recordStep,
  retryLater,
  unchanged,
} from './world.ts'

async function parkedFor(owner: Owner, ...names: string[]): Promise<void> {
  await owner.succeed(park(names.map((name) => ({ name, kind: 'signal', dueAt: null }))))
}

export const signalsChapter = chapter('signals', {
  'a signal is kept for a run that has not asked yet, pending or running': async (world) => {
    for (const status of ['pending', 'running'] as const) {
      const { id } = await inStatus(world, status, status)
      const signal = newSignal(world, id, { value: '{"ok":true}' })
      const { runAt, version } = await get(world, id)
      equal(await world.store.signals.send(signal), 'accepted', status)
      deepEqual(await world.store.signals.list(id), [signal], `signals of a ${status} run`)
      const row = await get(world, id)
      deepEqual([row.signals, row.runAt, row.version, row.status], [1, runAt, version, status], `the ${status} run`)
    }
  },

  'a signal makes a run that is parked for it due at once': async (world) => {
    const owner = await held(world)
    await parkedFor(owner, 'other', 'answer')
    await world.env.advance(1000)
    equal(await world.store.signals.send(newSignal(world, owner.run.id)), 'accepted', 'outcome')
    const { run } = await mustClaim(world)
    deepEqual([run.id, run.runAt, run.signals], [owner.run.id, world.env.wall(), 1], 'the run that goes on')
  },

  'a signal of another name does not wake a parked run, but counts': async (world) => {
    const owner = await held(world)
    await parkedFor(owner, 'answer')
    for (const name of ['answer ', 'Answer', 'answe', '', '"answer"', '%']) {
      equal(await world.store.signals.send(newSignal(world, owner.run.id, { name })), 'accepted', name)
    }
    equal(await claim(world), null, 'nothing to claim')
    const { runAt, signals } = await get(world, owner.run.id)
    deepEqual([runAt, signals], [NEVER_MS, 6], 'due time and count')
  },

  'names of signals may be any text, and none is taken for another': async (world) => {
    const owner = await held(world)
    const names = ['a"b', 'a\\b', "a'b", 'é', 'e\u0301', '日本', '"kind":"signal"', '{"name":"answer"}']
    await parkedFor(owner, ...names)
    for (const name of names) equal(await world.store.signals.send(newSignal(world, owner.run.id, { name })), 'accepted', name)
    equal((await world.store.signals.list(owner.run.id)).length, names.length, 'signals')
    for (const name of names) {
      const next = await held(world, { jobName: name })
      await parkedFor(next, name)
      await world.store.signals.send(newSignal(world, next.run.id, { name }))
      equal((await mustClaim(world, [name])).run.id, next.run.id, `woken by ${name}`)
    }
  },

  'a run that sleeps or is tried again later is not woken by a signal': async (world) => {
    const sleeper = await held(world)
    await sleeper.succeed(park([{ name: 'answer', kind: 'sleep', dueAt: NEVER_MS }]))
    const failed = await held(world)
    await failed.succeed(retryLater(world.env.wall() + 1000))
    for (const { run } of [sleeper, failed]) equal(await world.store.signals.send(newSignal(world, run.id)), 'accepted', 'outcome')
    equal(await claim(world), null, 'nothing to claim')
  },

  'a signal does not put off a run that is due already': async (world) => {
    const owner = await held(world)
    const dueAt = world.env.wall() + 1000
    await owner.succeed(park([{ name: 'answer', kind: 'signal', dueAt }]))
    await world.env.advance(5000)
    await world.store.signals.send(newSignal(world, owner.run.id))
    equal((await get(world, owner.run.id)).runAt, dueAt, 'its place in the queue')
  },

  'the first signal of a name wins': async (world) => {
    const { id } = await create(world)
    const first = newSignal(world, id, { value: '1' })
    equal(await world.store.signals.send(first), 'accepted', 'the first')
    equal(await unchanged(world, id, () => world.store.signals.send(newSignal(world, id, { value: '2' }))), 'taken', 'the second')
    deepEqual(await world.store.signals.list(id), [first], 'what is kept')
  },

  'a signal sent again is accepted and changes nothing': async (world) => {
    const owner = await held(world)
    const signal = newSignal(world, owner.run.id)
    await world.store.signals.send(signal)
    equal(await unchanged(world, owner.run.id, () => world.store.signals.send(signal)), 'accepted', 'while it runs')
    await owner.succeed(park([{ name: 'answer', kind: 'signal', dueAt: null }], 1))
    equal(await unchanged(world, owner.run.id, () => world.store.signals.send(signal)), 'accepted', 'while it is parked')
    equal(await claim(world), null, 'nothing to claim')
  },

  'one id under two names, or for two runs, is two signals': async (world) => {
    const [one, two] = [await create(world), await create(world)]
    for (const [runId, name] of [
      [one.id, 'a'],
      [one.id, 'b'],
      [two.id, 'a'],
    ] as const) {
      equal(await world.store.signals.send(newSignal(world, runId, { id: 'mine', name })), 'accepted', `${name} for ${runId}`)
    }
    deepEqual([(await get(world, one.id)).signals, (await get(world, two.id)).signals], [2, 1], 'counts')
  },

  'a run that has ended takes no signal, but knows those it got': async (world) => {
    for (const status of ['completed', 'failed', 'cancelled'] as const) {
      const owner = await held(world, { jobName: status })
      const early = newSignal(world, owner.run.id, { name: 'early' })
      await world.store.signals.send(early)
      await owner.succeed({ completed: complete(), failed: fail(), cancelled: { type: 'abandon' as const } }[status])
      const late = newSignal(world, owner.run.id)
      equal(await unchanged(world, owner.run.id, () => world.store.signals.send(late)), 'ended', status)
      equal(await world.store.signals.send(early), 'accepted', 'sent again')
      equal(await world.store.signals.send(newSignal(world, owner.run.id, { name: 'early' })), 'taken', 'another one')
      deepEqual(await world.store.signals.list(owner.run.id), [early], 'what is kept')
    }
  },

  'there is no signal for a run that does not exist': async (world) => {
    equal(await world.store.signals.send(newSignal(world, 'nobody')), null, 'outcome')
    deepEqual(await world.store.signals.list('nobody'), [], 'signals')
  },

  'ten signals of one name at once: one is accepted, and it is the one that is kept': async (world) => {
    const owner = await held(world)
    await parkedFor(owner, 'answer')
    const signals = Array.from({ length: 10 }, (_, i) => newSignal(world, owner.run.id, { value: `${i}` }))
    const outcomes = await Promise.all(signals.map((signal) => world.store.signals.send(signal)))
    equal(outcomes.filter((outcome) => outcome === 'accepted').length, 1, 'accepted')
    deepEqual(await world.store.signals.list(owner.run.id), [signals[outcomes.indexOf('accepted')]], 'what is kept')
    equal((await get(world, owner.run.id)).signals, 1, 'count')
  },

  'whichever comes first of a signal and park, the run goes on': async (world) => {
    for (let i = 0; i < 5; i++) {
      const owner = await held(world)
      await Promise.all([parkedFor(owner, 'answer'), world.store.signals.send(newSignal(world, owner.run.id))])
      const next = await mustClaim(world)
      equal(next.run.id, owner.run.id, 'the run')
      await next.succeed(complete())
    }
  },

  'a manual retry forgets the signals that failed steps received, and no others': async (world) => {
    const owner = await held(world)
    const names = ['refused', 'received', 'buffered']
    for (const name of names) await world.store.signals.send(newSignal(world, owner.run.id, { name }))
    await owner.succeed(recordFailedStep(owner, { name: 'refused' }))
    await owner.succeed(recordFailedStep(owner, { name: 'received', index: 1 }))
    await owner.succeed(recordStep(owner, { name: 'received', index: 1 }))
    equal((await world.store.runs.retry(owner.run.id))?.outcome, 'refused', 'while it runs')
    equal((await world.store.signals.list(owner.run.id)).length, 3, 'signals while it runs')
    await owner.succeed(fail())
    await world.store.runs.retry(owner.run.id)
    const left = (await world.store.signals.list(owner.run.id)).map(({ name }) => name)
    deepEqual(left, ['buffered', 'received'], 'what is left')
    equal(await world.store.signals.send(newSignal(world, owner.run.id, { name: 'refused' })), 'accepted', 'another one')
    equal(await world.store.signals.send(newSignal(world, owner.run.id, { name: 'received' })), 'taken', 'another one that was received')
  },

  'a signal handed in or out is a copy, and they come by time, then by name': async (world) => {
    const { id } = await create(world)
    const given = ['b', 'a', 'c'].map((name) => newSignal(world, id, { name }))
    for (const signal of given) await world.store.signals.send({ ...signal })
    await world.env.advance(1)
    const last = newSignal(world, id, { name: 'A' })
    await world.store.signals.send(last)
    const listed = await world.store.signals.list(id)
    deepEqual(
      listed.map(({ name }) => name),
      ['a', 'b', 'c', 'A'],
      'the order',
    )
    for (const signal of [...listed, last]) signal.value = 'changed by the caller'
    deepEqual(
      (await world.store.signals.list(id)).map(({ value }) => value),
      Array(4).fill('"yes"'),
      'what is stored',
    )
  },
})
