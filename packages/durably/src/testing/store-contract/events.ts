import { deepEqual, equal, ok } from '../assert.ts'
import { chapter } from './chapter.ts'
import {
  abandon,
  attachmentsOf,
  complete,
  create,
  eventTypes,
  fail,
  heartbeat,
  held,
  leasesEnd,
  mustClaim,
  OWNER_VERB_NAMES,
  OWNER_VERBS,
  recorded,
  recordFailedStep,
  recordStep,
  release,
  WORKER,
} from './world.ts'

export const eventsChapter = chapter('events', {
  'the event log holds the whole life of a run, in order': async (world) => {
    const first = await held(world)
    await first.succeed(recordStep(first, { name: 'a' }))
    await first.succeed(release())
    const second = await mustClaim(world)
    await leasesEnd(world)
    await world.store.runs.reap({ maxRecoveries: 10 })
    const third = await mustClaim(world)
    await third.succeed(recordFailedStep(third, { name: 'b' }))
    await third.succeed(fail())
    await world.store.runs.retry(third.run.id)
    const fourth = await mustClaim(world)
    await fourth.succeed(complete())
    deepEqual(
      await eventTypes(world, second.run.id),
      [
        'run:trigger',
        'run:start',
        'step:complete',
        'run:release',
        'run:start',
        'run:reclaim',
        'run:start',
        'step:fail',
        'run:fail',
        'run:retry',
        'run:start',
        'run:complete',
      ],
      'events',
    )
  },

  'seq is gapless from 1 and equals the counter of the run': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), attachmentsOf(owner))
    await owner.succeed(recordStep(owner), attachmentsOf(owner))
    await owner.succeed(abandon(), attachmentsOf(owner))
    const events = await world.store.events.list(owner.run.id)
    deepEqual(
      events.map((event) => event.seq),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      'seq',
    )
    equal((await world.store.runs.get(owner.run.id))?.lastEventSequence, 10, 'counter')
    ok(
      events.every((event) => event.runId === owner.run.id),
      'all belong to the run',
    )
  },

  'the events of one run do not count in another': async (world) => {
    const one = await held(world, { jobName: 'one' })
    const other = await held(world, { jobName: 'other' })
    await one.succeed(heartbeat(), attachmentsOf(one))
    await other.succeed(heartbeat(), attachmentsOf(other))
    await one.succeed(complete())
    deepEqual(
      (await world.store.events.list(other.run.id)).map(({ seq, type }) => `${seq} ${type}`),
      ['1 run:trigger', '2 run:start', '3 run:progress', '4 log:write'],
      'events of the other',
    )
  },

  'what gathered is written before the event of the verb, in its order': async (world) => {
    for (const verb of OWNER_VERB_NAMES) {
      const owner = await held(world, { jobName: verb })
      const gathered = ['step:start', 'run:progress', 'step:start', 'log:write', 'run:progress'] as const
      const events = gathered.map((type, stepIndex) => recorded(world, type, { generation: 1, stepIndex }))
      await owner.succeed(OWNER_VERBS[verb](owner), { events })
      const written = (await world.store.events.list(owner.run.id)).slice(2)
      deepEqual(
        written.slice(0, 5).map(({ type, payload }) => [type, JSON.parse(payload)]),
        events.map(({ type, payload }) => [type, payload]),
        `what gathered before ${verb}`,
      )
      equal(written.length, verb === 'heartbeat' ? 5 : 6, `events of ${verb}`)
    }
  },

  'an event that was written later keeps the time when it was emitted': async (world) => {
    const owner = await held(world)
    const event = recorded(world, 'step:start', { generation: 1, stepName: 'fetch', stepIndex: 0 })
    await world.env.advance(1234)
    await owner.succeed(heartbeat(), { events: [event] })
    const [written] = await world.store.events.list(owner.run.id, { after: 2 })
    equal(written?.createdAt, event.createdAt, 'time')
    deepEqual(JSON.parse(written?.payload ?? ''), event.payload, 'payload')
  },

  'the events of an owner name its generation and the row that holds the values': async (world) => {
    const first = await held(world)
    await first.succeed(release())
    const owner = await mustClaim(world)
    const verb = recordStep(owner)
    ok(verb.type === 'recordStep', 'the verb')
    await owner.succeed(verb)
    await owner.succeed(fail('no more'))
    const payloads = (await world.store.events.list(owner.run.id)).map(({ payload }) => JSON.parse(payload))
    deepEqual(payloads[2], { generation: 1 }, 'run:release')
    deepEqual(payloads[3], { generation: 2, workerId: WORKER }, 'run:start')
    deepEqual(payloads[4], { generation: 2, stepId: verb.step.id }, 'step:complete')
    const failure = { name: 'Error', message: 'no more' }
    deepEqual(payloads[5], { generation: 2, error: 'no more', failure, failedStepName: 'fetch' }, 'run:fail')
  },

  'every accepted verb of an owner writes its event, a refused one leaves no gap': async (world) => {
    const owner = await held(world)
    await owner.succeed(recordStep(owner))
    await owner.write(recordStep(owner), attachmentsOf(owner))
    const write = owner.next(heartbeat(), attachmentsOf(owner))
    await world.store.runs.apply([{ ...write, claim: { ...write.claim, token: 'not mine' } }])
    await owner.succeed(complete())
    deepEqual(
      (await world.store.events.list(owner.run.id)).map(({ seq, type }) => `${seq} ${type}`),
      ['1 run:trigger', '2 run:start', '3 step:complete', '4 run:complete'],
      'events',
    )
  },

  'a reader goes on after the last event it saw': async (world) => {
    const owner = await held(world)
    for (let i = 0; i < 4; i++) await owner.succeed(heartbeat(), attachmentsOf(owner))
    const seqs = async (page: { after?: number; limit?: number }) =>
      (await world.store.events.list(owner.run.id, page)).map((event) => event.seq)
    deepEqual(await seqs({ after: 7 }), [8, 9, 10], 'after 7')
    deepEqual(await seqs({ after: 10 }), [], 'after the last')
    deepEqual(await seqs({ after: 99 }), [], 'after what is not there yet')
    deepEqual(await seqs({ limit: 3 }), [1, 2, 3], 'the first three')
    deepEqual(await seqs({ after: 3, limit: 2 }), [4, 5], 'two after 3')
    deepEqual(await seqs({ after: 0 }), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'from the start')
  },

  'seq is ordered as a number': async (world) => {
    const owner = await held(world)
    for (let i = 0; i < 60; i++) await owner.succeed(heartbeat(), attachmentsOf(owner))
    deepEqual(
      (await world.store.events.list(owner.run.id)).map((event) => event.seq),
      Array.from({ length: 122 }, (_, i) => i + 1),
      'seq',
    )
  },

  'heads returns the last sequence of the log of each run': async (world) => {
    const waiting = await create(world, { jobName: 'waiting' })
    const owner = await held(world)
    const heads = () => world.store.events.heads([owner.run.id, 'not there', waiting.id, owner.run.id])
    deepEqual(Object.fromEntries(await heads()), { [waiting.id]: 1, [owner.run.id]: 2 }, 'at first')
    await owner.succeed(heartbeat())
    equal((await heads()).get(owner.run.id), 2, 'after a heartbeat without events')
    await owner.succeed(recordStep(owner), attachmentsOf(owner))
    await world.store.runs.cancel(waiting.id)
    deepEqual([(await heads()).get(owner.run.id), (await heads()).get(waiting.id)], [5, 2], 'later')
    await owner.succeed(complete())
    await world.store.runs.delete(owner.run.id)
    deepEqual([...(await heads())], [[waiting.id, 2]], 'after one was deleted')
    deepEqual([...(await world.store.events.heads([]))], [], 'of no run')
  },

  'a run that does not exist has no events': async (world) => {
    await create(world)
    deepEqual(await world.store.events.list(world.env.id()), [], 'events')
  },

  'an event that was handed out is a copy': async (world) => {
    const { id } = await create(world)
    const [event] = await world.store.events.list(id)
    ok(event, 'an event')
    event.type = 'run:fail'
    deepEqual(await eventTypes(world, id), ['run:trigger'], 'what is stored')
  },
})
