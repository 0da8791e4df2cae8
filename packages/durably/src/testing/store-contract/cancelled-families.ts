// A cancel of a run reaches the runs below it.
import type { RunRow } from '../../model/run.ts'
import { NEVER_MS } from '../../model/wait.ts'
import type { CancelOutcome, Changed, StoppedRun } from '../../store/runs.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { below, CHILD, family } from './family.ts'
import {
  abandon,
  byId,
  complete,
  create,
  eventTypes,
  fail,
  get,
  heartbeat,
  held,
  leasesEnd,
  mustClaim,
  park,
  retryLater,
  send,
  unchanged,
} from './world.ts'

function othersOf(answer: CancelOutcome | Changed | null): StoppedRun[] {
  return answer && 'others' in answer ? answer.others : []
}

/** By id. */
function outcomes(runs: readonly [RunRow, StoppedRun['outcome']][]): StoppedRun[] {
  return byId(runs.map(([{ id, jobName }, outcome]) => ({ outcome, id, jobName })))
}

export const cancelledFamilies = chapter('cancelled families', {
  'a cancel reaches those below at any depth, in its one commit': async (world) => {
    const { parent, child } = await family(world)
    const sleeper = await below(world, child.run.id, 'b')
    const grandchild = await held(world, { jobName: 'c', parentRunId: sleeper.id })
    const last = await below(world, grandchild.run.id, 'd')
    const stranger = await create(world, { jobName: 'e' })
    await world.env.advance(10)
    const now = world.env.wall()
    const answer = await world.store.runs.cancel(parent.run.id)
    deepEqual(
      [answer?.outcome, othersOf(answer)],
      [
        'requested',
        outcomes([
          [child.run, 'requested'],
          [sleeper, 'cancelled'],
          [grandchild.run, 'requested'],
          [last, 'cancelled'],
        ]),
      ],
      'answer',
    )
    for (const { run } of [child, grandchild]) {
      const row = await get(world, run.id)
      const asked = { cancelRequestedAt: now, version: run.version + 1, signals: 1, updatedAt: row.updatedAt }
      deepEqual(row, { ...run, ...asked }, 'one that runs')
    }
    for (const before of [sleeper, last]) {
      const row = await get(world, before.id)
      const ended = { status: 'cancelled' as const, cancelRequestedAt: now, finishedAt: now, updatedAt: row.updatedAt }
      deepEqual(row, { ...before, ...ended, version: before.version + 1, lastEventSequence: 2 }, 'one that was pending')
      deepEqual(await eventTypes(world, row.id), ['run:trigger', 'run:cancel'], 'its events')
    }
    deepEqual(await get(world, stranger.id), stranger, 'one of no concern')
  },

  'below a run that was asked to stop nothing is retried': async (world) => {
    const { parent, child } = await family(world)
    await child.succeed(fail())
    await world.store.runs.cancel(parent.run.id)
    const answer = await unchanged(world, child.run.id, () => world.store.runs.retry(child.run.id))
    equal(answer?.outcome, 'refused', 'while its parent is asked to stop')
    await parent.succeed(abandon())
    equal((await world.store.runs.retry(child.run.id))?.outcome, 'refused', 'when its parent is cancelled')
  },

  'below a cancelled run that was deleted a failed one is retried, and no cancel wakes it': async (world) => {
    const { parent, child } = await family(world)
    await child.succeed(fail())
    await world.store.runs.cancel(parent.run.id)
    await parent.succeed(abandon())
    await world.store.runs.delete(parent.run.id)
    equal((await world.store.runs.retry(child.run.id))?.outcome, 'retried', 'retry')
    const again = await mustClaim(world, [CHILD])
    const dueAt = world.env.wall() + 25
    deepEqual(await again.write(retryLater(dueAt)), { ok: true, cancelRequested: false }, 'outcome')
    equal((await get(world, child.run.id)).runAt, dueAt, 'its time')
  },

  'a cancel that is asked for again ends what was triggered since, and answers with the run as it is then': async (world) => {
    const parent = await held(world)
    await world.store.runs.cancel(parent.run.id)
    const late = await below(world, parent.run.id, CHILD)
    const answer = await world.store.runs.cancel(parent.run.id)
    const run = await get(world, parent.run.id)
    deepEqual([answer, run.signals], [{ outcome: 'requested', run, others: outcomes([[late, 'cancelled']]) }, 1], 'the answer')
  },

  'a cancel of a pending run is logged in its parent and in no other run of its family': async (world) => {
    const top = await held(world)
    const parent = await below(world, top.run.id, CHILD)
    const child = await below(world, parent.id, 'b')
    await world.store.runs.cancel(parent.id)
    equal((await get(world, top.run.id)).signals, 1, 'signals of the run above')
    deepEqual([(await get(world, parent.id)).signals, (await get(world, child.id)).status], [0, 'cancelled'], 'the family')
  },

  'a cancel reaches the runs below a cancelled run, but not those below a run with another end': async (world) => {
    const { parent, child } = await family(world)
    const found = await below(world, child.run.id, 'b')
    await child.succeed(abandon())
    const spared: RunRow[] = []
    for (const [jobName, end] of [
      ['c', complete()],
      ['d', fail()],
    ] as const) {
      const done = await held(world, { jobName, parentRunId: parent.run.id })
      spared.push(await below(world, done.run.id, `below ${jobName}`))
      await done.succeed(end)
    }
    const answer = await world.store.runs.cancel(parent.run.id)
    deepEqual(othersOf(answer), outcomes([[found, 'cancelled']]), 'the others')
    for (const run of spared) deepEqual(await get(world, run.id), run, 'one that is left alone')
  },

  'a cancel that is asked for again walks on, also from a run that was cancelled': async (world) => {
    const { parent, child } = await family(world)
    await world.store.runs.cancel(parent.run.id)
    const late = await below(world, parent.run.id, 'b')
    const again = await world.store.runs.cancel(parent.run.id)
    deepEqual([again?.outcome, othersOf(again)], ['requested', outcomes([[late, 'cancelled']])], 'while it runs')
    await parent.succeed(abandon())
    const later = await below(world, child.run.id, 'c')
    const once = await world.store.runs.cancel(parent.run.id)
    deepEqual([once?.outcome, othersOf(once)], ['refused', outcomes([[later, 'cancelled']])], 'when it was cancelled')
    const nothing = await unchanged(world, child.run.id, () => world.store.runs.cancel(parent.run.id))
    deepEqual(othersOf(nothing), [], 'when there is nothing left')
  },

  'a cancel of a run with another end reaches nobody': async (world) => {
    for (const end of [complete(), fail()]) {
      const parent = await held(world, { jobName: end.type })
      const child = await below(world, parent.run.id, `below ${end.type}`)
      await parent.succeed(end)
      const answer = await unchanged(world, child.id, () => world.store.runs.cancel(parent.run.id))
      deepEqual([answer?.outcome, othersOf(answer)], ['refused', []], end.type)
    }
  },

  'the version that a cancel asks for is that of its run alone, and one that does not fit reaches nobody': async (world) => {
    const { parent, child } = await family(world)
    const other = await below(world, parent.run.id, 'b')
    await unchanged(world, other.id, () => world.store.runs.cancel(parent.run.id, { ifVersion: parent.run.version + 1 }))
    deepEqual(await get(world, child.run.id), child.run, 'the child')
    const answer = await world.store.runs.cancel(parent.run.id, { ifVersion: parent.run.version })
    deepEqual(
      othersOf(answer),
      outcomes([
        [child.run, 'requested'],
        [other, 'cancelled'],
      ]),
      'the others',
    )
  },

  'the cancel of a run shows in what its children write': async (world) => {
    const { parent, child } = await family(world)
    await world.store.runs.cancel(parent.run.id)
    const write = child.next(heartbeat())
    deepEqual(await send(world, write), { ok: true, cancelRequested: true }, 'a write')
    deepEqual(await send(world, write), { ok: true, cancelRequested: true }, 'the same, sent again')
    const others = child.next(heartbeat())
    const stranger = await held(world, { jobName: 'd' })
    deepEqual(
      await world.store.runs.apply([others, stranger.next(heartbeat())]),
      [
        { ok: true, cancelRequested: true },
        { ok: true, cancelRequested: false },
      ],
      'among others',
    )
  },

  'the cancel of a run shows in the claims of children that came after it': async (world) => {
    const parent = await held(world)
    await world.store.runs.cancel(parent.run.id)
    const asked = world.env.wall()
    await world.env.advance(10)
    const { run } = await held(world, { jobName: CHILD, parentRunId: parent.run.id })
    equal(run.cancelRequestedAt, asked, 'the request')
    await leasesEnd(world)
    const moves = (await world.store.runs.reap({ maxRecoveries: 10 })).map(({ move }) => move)
    deepEqual(moves, ['reclaimCancelled', 'reclaimCancelled'], 'what becomes of both when they are lost')
  },

  'a child of a cancelled run does not park, and is tried again at once': async (world) => {
    const { parent, child } = await family(world)
    await world.store.runs.cancel(parent.run.id)
    await child.succeed(park([{ name: 'nap', kind: 'sleep', dueAt: NEVER_MS }]))
    const again = await mustClaim(world, [CHILD])
    await again.succeed(retryLater(NEVER_MS))
    equal((await mustClaim(world, [CHILD])).run.id, child.run.id, 'claimed at once')
  },
})
