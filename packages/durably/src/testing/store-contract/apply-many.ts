// Writes of many runs in one call: each is as if it came alone.
import type { OwnerWrite } from '../../store/owner-write.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { type Case, chapter, type World } from './chapter.ts'
import { MEGABYTE, VALUES } from './hostile-texts.ts'
import {
  ACCEPTED,
  abandon,
  attachmentsOf,
  claimUpTo,
  complete,
  everything,
  fail,
  get,
  heartbeat,
  held,
  leasesEnd,
  logLine,
  mustClaim,
  newRun,
  OWNER_VERB_NAMES,
  OWNER_VERBS,
  type Owner,
  REFUSED,
  recorded,
  recordFailedStep,
  recordStep,
  release,
} from './world.ts'

/** Two owners of one run: the first one does not know that it was replaced. */
async function zombieAndOwner(world: World): Promise<[zombie: Owner, owner: Owner]> {
  const zombie = await held(world, { jobName: 'haunted' })
  await zombie.succeed(heartbeat())
  await leasesEnd(world)
  await world.store.runs.reap({ maxRecoveries: 10 })
  return [zombie, await mustClaim(world, ['haunted'])]
}

const zombies: Case[] = (['before', 'after'] as const).map((place) => ({
  name: `a former owner who writes ${place} the present one in one call writes nothing`,
  async run(world) {
    const [zombie, owner] = await zombieAndOwner(world)
    const others = await owners(world, 2)
    const late = zombie.next(recordStep(zombie, { name: 'a' }), attachmentsOf(zombie))
    const good = owner.next(recordStep(owner, { name: 'a' }), attachmentsOf(owner))
    const [first, last] = others.map((other) => other.next(recordStep(other), attachmentsOf(other)))
    ok(first && last, 'two others')
    const pair = place === 'before' ? [late, good] : [good, late]
    const outcomes = place === 'before' ? [REFUSED, ACCEPTED] : [ACCEPTED, REFUSED]
    deepEqual(await world.store.runs.apply([first, ...pair, last]), [ACCEPTED, ...outcomes, ACCEPTED], 'outcomes')
    deepEqual(await loggedSince(world, owner, 4), ['5 run:progress', '6 log:write', '7 step:complete'], 'events of the haunted run')
    const { steps, logs } = await everything(world, owner.run.id)
    deepEqual([steps.map((step) => step.leaseGeneration), logs], [[2], good.logs], 'its step and its line')
    for (const other of others) equal((await get(world, other.run.id)).currentStepIndex, 1, 'steps of another run')
  },
}))

const alone: Case[] = OWNER_VERB_NAMES.map((verb) => ({
  name: `${verb} among others does what it does alone`,
  async run(world) {
    const [lonely, ...group] = await owners(world, 4)
    ok(lonely, 'an owner')
    const writeOf = (owner: Owner, i: number) => {
      const verbs = [OWNER_VERBS[verb](owner), recordStep(owner), heartbeat()]
      return owner.next(verbs[i] ?? heartbeat(), attachmentsOf(owner))
    }
    await world.store.runs.apply([writeOf(lonely, 0)])
    deepEqual(await world.store.runs.apply(group.map(writeOf)), [ACCEPTED, ACCEPTED, ACCEPTED], 'outcomes')
    deepEqual(await withoutIds(world, group[0]), await withoutIds(world, lonely), 'the run')
  },
}))

export const applyMany = chapter(
  'writes of many runs',
  {
    'ten runs write in one call': async (world) => {
      const ten = await owners(world, 10)
      const writes = ten.map((owner, i) => owner.next(recordStep(owner, { name: `step ${i}`, output: `${i}` }), attachmentsOf(owner)))
      deepEqual(await world.store.runs.apply(writes), Array(10).fill(ACCEPTED), 'outcomes')
      for (const [i, owner] of ten.entries()) {
        const { run, steps, logs } = await everything(world, owner.run.id)
        deepEqual([run?.leaseWrites, run?.currentStepIndex, run?.lastEventSequence], [1, 1, 5], 'writes, index and counter')
        deepEqual([steps[0]?.name, steps[0]?.output, steps.length], [`step ${i}`, `${i}`, 1], 'its step')
        deepEqual(logs, writes[i]?.logs, 'its line')
        deepEqual(await loggedSince(world, owner, 2), ['3 run:progress', '4 log:write', '5 step:complete'], 'its events')
      }
    },

    'the events of each run go into its own log, in their order': async (world) => {
      const three = await owners(world, 3)
      await three[1]?.succeed(heartbeat(), three[1] && attachmentsOf(three[1]))
      const writes = three.map((owner, i) => {
        const events = Array.from({ length: i + 1 }, (_, stepIndex) =>
          recorded(world, 'step:start', { generation: 1, stepName: `${i}`, stepIndex }),
        )
        const logs = Array.from({ length: 12 - i }, (_, n) => logLine(world, owner.run.id, { message: `${i}/${n}` }))
        return owner.next(i === 2 ? complete() : heartbeat(), { events, logs })
      })
      await world.store.runs.apply(writes.toReversed())
      for (const [i, owner] of three.entries()) {
        const { events, logs } = await everything(world, owner.run.id)
        const logged = events.filter(({ type }) => type === 'step:start').map(({ seq, payload }) => ({ seq, payload: JSON.parse(payload) }))
        const first = i === 1 ? 5 : 3
        deepEqual(
          logged,
          writes[i]?.events.map(({ payload }, n) => ({ seq: first + n, payload })),
          'events',
        )
        deepEqual(logs.slice(i === 1 ? 1 : 0), writes[i]?.logs, 'lines')
      }
    },

    'a refused write among others fails alone': async (world) => {
      const ten = await owners(world, 10)
      const done = ten[7]
      await done?.succeed(complete())
      const writes = ten.map((owner, i) => {
        const write = owner.next(recordStep(owner), attachmentsOf(owner))
        return i === 4 ? { ...write, claim: { ...write.claim, token: 'not mine' } } : write
      })
      const before = await Promise.all([4, 7].map((i) => everything(world, ten[i]?.run.id ?? '')))
      const outcomes = await world.store.runs.apply(writes)
      deepEqual(
        outcomes,
        ten.map((_, i) => (i === 4 || i === 7 ? REFUSED : ACCEPTED)),
        'outcomes',
      )
      deepEqual(await Promise.all([4, 7].map((i) => everything(world, ten[i]?.run.id ?? ''))), before, 'the refused ones wrote nothing')
      for (const [i, owner] of ten.entries()) {
        if (i !== 4 && i !== 7) equal((await get(world, owner.run.id)).currentStepIndex, 1, `run ${i}`)
      }
    },

    'a step that is completed already is refused among others': async (world) => {
      const [one, two, three] = await owners(world, 3)
      ok(one && two && three, 'three owners')
      await two.succeed(recordStep(two, { name: 'a' }))
      const before = await everything(world, two.run.id)
      const writes = [one, two, three].map((owner) => owner.next(recordStep(owner, { name: 'a', index: 1 }), attachmentsOf(owner)))
      deepEqual(await world.store.runs.apply(writes), [ACCEPTED, REFUSED, ACCEPTED], 'outcomes')
      deepEqual(await everything(world, two.run.id), before, 'the refused one wrote nothing')
      deepEqual(await two.write(recordStep(two, { name: 'b', index: 1 })), ACCEPTED, 'its next write')
    },

    'two writes of one run among others are applied in their order': async (world) => {
      const [one, two] = await owners(world, 2)
      ok(one && two, 'two owners')
      const writes = [
        one.next(recordStep(one, { name: 'a' }), { ...attachmentsOf(one), progress: '1' }),
        two.next(recordFailedStep(two, { name: 'a' }), attachmentsOf(two)),
        one.next(recordStep(one, { name: 'b', index: 1 }), { ...attachmentsOf(one), progress: '2' }),
        two.next(fail(), attachmentsOf(two)),
        one.next(heartbeat(), { progress: '3' }),
        two.next(heartbeat(), attachmentsOf(two)),
      ]
      deepEqual(await world.store.runs.apply(writes), [ACCEPTED, ACCEPTED, ACCEPTED, ACCEPTED, ACCEPTED, REFUSED], 'outcomes')
      const row = await get(world, one.run.id)
      deepEqual([row.leaseWrites, row.currentStepIndex, row.progress, row.lastEventSequence], [3, 2, '3', 8], 'the one')
      const logged = ['3 run:progress', '4 log:write', '5 step:fail', '6 run:progress', '7 log:write', '8 run:fail']
      deepEqual(await loggedSince(world, two, 2), logged, 'events of the other')
    },

    'steps and endings of many runs are written together, and each answer reports the cancel of its own run': async (world) => {
      const six = await owners(world, 6)
      await world.store.runs.cancel(six[2]?.run.id ?? '')
      await world.store.runs.cancel(six[5]?.run.id ?? '')
      const verbs = [complete('1'), heartbeat(), abandon(), fail('no'), release()]
      const writes = six.map((owner, i) => owner.next(verbs[i] ?? recordStep(owner), attachmentsOf(owner)))
      const cancelRequested = (i: number) => i === 2 || i === 5
      deepEqual(
        await world.store.runs.apply(writes),
        six.map((_, i) => ({ ok: true, cancelRequested: cancelRequested(i) })),
        'outcomes',
      )
      const rows = await Promise.all(six.map((owner) => get(world, owner.run.id)))
      deepEqual(
        rows.map(({ status, output, error }) => [status, output, error]),
        [
          ['completed', '1', null],
          ['running', null, null],
          ['cancelled', null, null],
          ['failed', null, 'no'],
          ['pending', null, null],
          ['running', null, null],
        ],
        'runs',
      )
    },

    'a group that is sent again writes nothing': async (world) => {
      const ten = await owners(world, 10)
      const verbs = [complete(), heartbeat(), fail(), release(), abandon()]
      const writes = ten.map((owner, i) => owner.next(verbs[i] ?? recordStep(owner), attachmentsOf(owner)))
      deepEqual(await world.store.runs.apply(writes), Array(10).fill(ACCEPTED), 'the first time')
      await sameAgain(world, writes, Array(10).fill(ACCEPTED))
      const renewed = ten.slice(5).map((owner) => owner.next(heartbeat(), attachmentsOf(owner)))
      const mixed = [...writes, ...renewed]
      deepEqual(await world.store.runs.apply(mixed), Array(15).fill(ACCEPTED), 'among new ones')
      for (const owner of ten.slice(5)) equal((await get(world, owner.run.id)).lastEventSequence, 7, 'events of a run')
      await sameAgain(world, mixed, Array(15).fill(ACCEPTED))
    },

    'one group sent ten times at once has the effect of once': async (world) => {
      const five = await owners(world, 5)
      const writes = five.map((owner) => owner.next(recordStep(owner), attachmentsOf(owner)))
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => world.store.runs.apply(writes)))
      for (const outcome of outcomes) deepEqual(outcome, Array(5).fill(ACCEPTED), 'outcomes')
      for (const owner of five) equal((await get(world, owner.run.id)).lastEventSequence, 5, 'events of a run')
    },

    'a log line whose id is known is left out among others': async (world) => {
      const [one, two] = await owners(world, 2)
      ok(one && two, 'two owners')
      const line = logLine(world, one.run.id)
      const fresh = logLine(world, two.run.id)
      await world.store.runs.apply([
        one.next(heartbeat(), { logs: [line, line] }),
        two.next(heartbeat(), { logs: [{ ...line, runId: two.run.id }, fresh] }),
      ])
      deepEqual((await world.store.logs.list(one.run.id)).length + (await world.store.logs.list(two.run.id)).length, 2, 'lines')
    },

    'values that are written together come back as they were': async (world) => {
      const texts = [...Object.values(VALUES), MEGABYTE]
      const some = await owners(world, texts.length)
      await world.store.runs.apply(
        some.map((owner, i) => {
          const output = texts[i] ?? null
          return owner.next(recordStep(owner, { output }), { progress: output, logs: [logLine(world, owner.run.id, { data: output })] })
        }),
      )
      await world.store.runs.apply(some.map((owner, i) => owner.next(complete(texts[i]))))
      for (const [i, owner] of some.entries()) {
        const { run, steps, logs } = await everything(world, owner.run.id)
        for (const text of [run?.progress, run?.output, steps[0]?.output, logs[0]?.data]) ok(text === texts[i], `value ${i}`)
      }
    },
  },
  [...alone, ...zombies],
)

/** Of runs that are claimed in one call. */
async function owners(world: World, count: number): Promise<Owner[]> {
  await world.store.runs.create(Array.from({ length: count }, () => newRun(world)))
  const claimed = await claimUpTo(count, world)
  equal(claimed.length, count, 'claimed runs')
  return claimed
}

async function sameAgain(world: World, writes: readonly OwnerWrite[], outcomes: unknown[]): Promise<void> {
  const look = () => Promise.all(writes.map(({ claim }) => everything(world, claim.runId)))
  const before = await look()
  await world.env.advance(1000)
  deepEqual(await world.store.runs.apply(writes), outcomes, 'sent again')
  deepEqual(await look(), before, 'nothing was written')
}

async function loggedSince(world: World, owner: Owner, after: number): Promise<string[]> {
  return (await world.store.events.list(owner.run.id, { after })).map(({ seq, type }) => `${seq} ${type}`)
}

/** What two runs with the same life have in common. */
async function withoutIds(world: World, owner: Owner | undefined) {
  const { run, steps, events, logs } = await everything(world, owner?.run.id ?? '')
  return JSON.parse(
    JSON.stringify({ run, steps, events: events.map((event) => ({ ...event, payload: JSON.parse(event.payload) })), logs }, (key, value) =>
      ['id', 'runId', 'stepId', 'logId', 'leaseOwner'].includes(key) ? typeof value : value,
    ),
  )
}
