// A run and its children: the parent is notified when a child ends, however it ends, and a cancel of the parent reaches its children.
import { type RunRow, type RunStatus, TERMINAL_STATUSES } from '../../model/run.ts'
import { NEVER_MS } from '../../model/wait.ts'
import type { CancelOutcome, Changed, NewRun, StoppedRun } from '../../store/runs.ts'
import { deepEqual, equal, ok, rejects } from '../assert.ts'
import { type Case, chapter, type World } from './chapter.ts'
import {
  abandon,
  byId,
  claim,
  complete,
  create,
  eventTypes,
  fail,
  get,
  heartbeat,
  held,
  ids,
  LEASE_MS,
  leasesEnd,
  logLine,
  mustClaim,
  newRun,
  type Owner,
  park,
  release,
  retryLater,
  send,
  unchanged,
} from './world.ts'

const CHILD = 'send-mail'
const EVERYTHING = { statuses: TERMINAL_STATUSES, olderThanMs: 0, limit: 100 }
const FOR_A_CHILD = park([{ name: 'mail', kind: 'child', dueAt: null }])

/** A run that holds its slot, and a child of it with an owner. */
async function family(world: World): Promise<{ parent: Owner; child: Owner }> {
  const parent = await held(world)
  return { parent, child: await held(world, { jobName: CHILD, parentRunId: parent.run.id, deadlineAt: world.env.wall() + LEASE_MS }) }
}

function below(world: World, parentRunId: string, jobName: string): Promise<RunRow> {
  return create(world, { jobName, parentRunId })
}

function othersOf(answer: CancelOutcome | Changed | null): StoppedRun[] {
  return answer && 'others' in answer ? answer.others : []
}

/** By id. */
function outcomes(runs: readonly [RunRow, StoppedRun['outcome']][]): StoppedRun[] {
  return byId(runs.map(([{ id, jobName }, outcome]) => ({ outcome, id, jobName })))
}

/** Neither a delete nor a purge takes it. */
async function keeps(world: World, id: string, status: RunStatus, when: string): Promise<void> {
  const answer = await unchanged(world, id, () => world.store.runs.delete(id))
  deepEqual(answer, { outcome: 'refused', status }, `delete while ${when}`)
  equal(await unchanged(world, id, () => world.store.runs.purge(EVERYTHING)), 0, `purged while ${when}`)
}

/** All ways in which a run can end. */
const ENDS: Record<string, (world: World, child: Owner) => Promise<unknown>> = {
  completed: (_, child) => child.succeed(complete()),
  failed: (_, child) => child.succeed(fail()),
  abandoned: (_, child) => child.succeed(abandon()),
  'cancelled while it was pending': async (world, child) => {
    await child.succeed(release())
    await world.store.runs.cancel(child.run.id)
  },
  'cancelled by the reaper': async (world, child) => {
    await world.store.runs.cancel(child.run.id)
    await reapTo(world, 'cancelled', child)
  },
  'failed by the reaper after its deadline': (world, child) => reapTo(world, 'failed', child),
}

async function reapTo(world: World, status: string, { run }: Owner): Promise<void> {
  await leasesEnd(world)
  await world.store.runs.reap({ maxRecoveries: 10 })
  equal((await get(world, run.id)).status, status, 'the end of the child')
}

const endings: Case[] = Object.entries(ENDS).flatMap(([how, end]) => [
  {
    name: `a run that is parked for a child is due when it is ${how}`,
    async run(world) {
      const { parent, child } = await family(world)
      await parent.succeed(FOR_A_CHILD)
      await world.env.advance(10)
      await end(world, child)
      const { run } = await mustClaim(world)
      deepEqual([run.id, run.runAt, run.signals], [parent.run.id, world.env.wall(), 1], 'the run that goes on')
    },
  },
  {
    name: `a run that wants to park does not when a child was ${how} meanwhile`,
    async run(world) {
      const { parent, child } = await family(world)
      await parent.succeed(heartbeat(10 * LEASE_MS))
      await end(world, child)
      const { signals, status } = await get(world, parent.run.id)
      deepEqual([signals, status], [1, 'running'], 'the parent')
      await parent.succeed(FOR_A_CHILD)
      equal((await mustClaim(world)).run.id, parent.run.id, 'claimed at once')
    },
  },
])

export const children = chapter(
  'children',
  {
    'a child that goes on wakes nobody': async (world) => {
      const { parent, child } = await family(world)
      await parent.succeed(FOR_A_CHILD)
      await child.succeed(heartbeat())
      await child.succeed(retryLater(world.env.wall()))
      const again = await mustClaim(world, [CHILD])
      await again.succeed(park([{ name: 'nap', kind: 'sleep', dueAt: world.env.wall() }]))
      await (await mustClaim(world, [CHILD])).succeed(release())
      equal(await claim(world), null, 'nothing to claim')
      equal((await get(world, parent.run.id)).signals, 0, 'signals')
    },

    'a run that is parked for something else gets the event of a child, but sleeps on': async (world) => {
      const { parent, child } = await family(world)
      await parent.succeed(park([{ name: 'child', kind: 'sleep', dueAt: NEVER_MS }]))
      await child.succeed(complete())
      equal(await claim(world), null, 'nothing to claim')
      equal((await get(world, parent.run.id)).signals, 1, 'signals')
    },

    'the end of a child that is written again is logged once in its parent': async (world) => {
      const { parent, child } = await family(world)
      await parent.succeed(FOR_A_CHILD)
      const end = child.next(complete())
      await send(world, end)
      await (await mustClaim(world)).succeed(park([{ name: 'other', kind: 'child', dueAt: null }], 1))
      await unchanged(world, parent.run.id, () => send(world, end))
      equal(await claim(world), null, 'nothing to claim')
    },

    'a refused end is not logged in the parent': async (world) => {
      const { parent, child } = await family(world)
      await child.succeed(release())
      await parent.succeed(FOR_A_CHILD)
      equal((await child.write(complete())).ok, false, 'the end by a former owner')
      equal((await get(world, parent.run.id)).signals, 0, 'signals')
    },

    'an end with log lines that are known, or with none, is logged in the parent all the same': async (world) => {
      const { parent, child } = await family(world)
      const line = logLine(world, child.run.id)
      await world.store.logs.append([line])
      await child.succeed(complete(), { logs: [line] })
      equal((await get(world, parent.run.id)).signals, 1, 'signals')
    },

    'a run that has ended gets no event of its children, and they end all the same': async (world) => {
      const { parent, child } = await family(world)
      await parent.succeed(complete())
      const fresh = logLine(world, child.run.id)
      await unchanged(world, parent.run.id, () => child.succeed(complete(), { logs: [fresh] }))
      deepEqual(await world.store.logs.list(child.run.id), [fresh], 'log lines of the child')
      await world.store.runs.delete(parent.run.id)
      const orphan = await held(world, { jobName: CHILD, parentRunId: parent.run.id })
      await orphan.succeed(complete())
    },

    'a run that parks and its child that ends in one call do not miss each other': async (world) => {
      for (const order of ['parent first', 'child first']) {
        const { parent, child } = await family(world)
        const writes = [parent.next(FOR_A_CHILD), child.next(complete())]
        const outcomes = await world.store.runs.apply(order === 'parent first' ? writes : writes.reverse())
        deepEqual(
          outcomes.map(({ ok }) => ok),
          [true, true],
          order,
        )
        const next = await mustClaim(world)
        deepEqual([next.run.id, next.run.signals], [parent.run.id, 1], order)
        await next.succeed(complete())
      }
    },

    'each end of several children in one call is logged in the parent, and nothing but the ends': async (world) => {
      const { parent, child } = await family(world)
      const others = [
        await held(world, { jobName: 'b', parentRunId: parent.run.id }),
        await held(world, { jobName: 'c', parentRunId: parent.run.id }),
      ]
      const [second, third] = others as [Owner, Owner]
      const stranger = await held(world, { jobName: 'd' })
      await world.store.runs.apply([child.next(complete()), second.next(heartbeat()), third.next(fail()), stranger.next(complete())])
      equal((await get(world, parent.run.id)).signals, 2, 'signals')
    },

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

    'a known step of a parent answers with the child it has, as it is now, whatever else is asked for': async (world) => {
      const parent = await held(world)
      const known = { parentRunId: parent.run.id, parentStep: 'mail' }
      const child = await held(world, { jobName: CHILD, ...known, payload: '1' })
      await child.succeed(complete())
      const again = await world.store.runs.create([newRun(world, { jobName: 'another job', ...known, payload: '2', idempotencyKey: 'k' })])
      deepEqual(again, [{ run: await get(world, child.run.id), created: false }], 'the answer')
      deepEqual([again[0]?.run.status, again[0]?.run.idempotencyKey], ['completed', null], 'the child')
      equal((await world.store.runs.list({})).length, 2, 'stored runs')
    },

    'a step of 512 bytes has a child, and other steps and parents have theirs': async (world) => {
      const [one, two] = [await create(world, { jobName: 'a' }), await create(world, { jobName: 'a' })]
      const step = 'ß'.repeat(256)
      const asked = [
        newRun(world, { parentRunId: one.id, parentStep: step }),
        newRun(world, { parentRunId: one.id, parentStep: step }),
        newRun(world, { parentRunId: one.id, parentStep: `${step.slice(1)}s` }),
        newRun(world, { parentRunId: two.id, parentStep: step }),
      ]
      const ids = asked.map(({ id }) => id)
      const answers = await world.store.runs.create(asked)
      const twice = [ids[0], ids[0], ids[2], ids[3]]
      deepEqual(
        answers.map(({ run }) => run.id),
        twice,
        'the children',
      )
      deepEqual(
        answers.map(({ created }) => created),
        [true, false, true, true],
        'which are new',
      )
      const sentAgain = await world.store.runs.create(asked)
      deepEqual(
        sentAgain.map(({ run }) => run.id),
        twice,
        'when it is sent again',
      )
    },

    'an idempotency key that looks like a parent and its step is another run': async (world) => {
      const parent = await create(world, { jobName: 'a' })
      const forged = await create(world, { jobName: CHILD, idempotencyKey: `${parent.id}/mail` })
      const child = await create(world, { jobName: CHILD, parentRunId: parent.id, parentStep: 'mail' })
      ok(child.id !== forged.id, 'two runs')
      equal((await create(world, { jobName: CHILD, idempotencyKey: `${parent.id}/mail` })).id, forged.id, 'the run of the key')
      const children = (await world.store.runs.list({})).filter(({ parentRunId }) => parentRunId === parent.id)
      deepEqual(ids(children), [child.id], 'the children')
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

    'only the owner of the parent triggers a child of it; anybody who asks for an existing child gets it': async (world) => {
      const parent = await held(world)
      const child = (token: string, parentStep: string, parentRunId = parent.run.id) =>
        newRun(world, { jobName: CHILD, parentRunId, parentStep, parentToken: token })
      const refused = (what: string, ...asked: NewRun[]) => rejects(world.store.runs.create(asked), 'run_not_found', what)
      const [made] = await world.store.runs.create([child(parent.claim.token, 'mail')])
      equal(made?.created, true, 'the child of its owner')
      await refused('under another claim', child('another', 'bill'))
      await refused('of a run that is not here', child(parent.claim.token, 'bill', 'elsewhere'))
      const late = child(parent.claim.token, 'bill')
      const theirs = await held(world)
      await parent.succeed(release())
      await refused('after the lease', late)
      const next = await mustClaim(world)
      await refused('under the claim before', late)
      await refused('beside another', late, child(theirs.claim.token, 'bill', theirs.run.id))
      const [known] = await world.store.runs.create([child(parent.claim.token, 'mail')])
      deepEqual([known?.run.id, known?.created], [made?.run.id, false], 'one that is there')
      const [bill] = await world.store.runs.create([child(next.claim.token, 'bill')])
      equal(bill?.created, true, 'the child of its next owner')
    },

    'a child that was removed leaves its step free': async (world) => {
      const parent = await held(world)
      const known = { parentRunId: parent.run.id, parentStep: 'mail' }
      const child = await held(world, { jobName: CHILD, ...known })
      await child.succeed(complete())
      await parent.succeed(complete())
      await world.store.runs.delete(child.run.id)
      ok((await create(world, { jobName: CHILD, ...known })).id !== child.run.id, 'a new run')
    },

    'callers that ask for the same child at once get the same one': async (world) => {
      const parent = await create(world, { jobName: 'a' })
      const known = { parentRunId: parent.id, parentStep: 'mail' }
      const answers = await Promise.all(Array.from({ length: 10 }, () => world.store.runs.create([newRun(world, known)])))
      equal(new Set(answers.flat().map(({ run }) => run.id)).size, 1, 'children')
      equal(answers.flat().filter(({ created }) => created).length, 1, 'new ones')
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

    'a child that has ended is kept as long as its parent may ask for it': async (world) => {
      const { parent, child } = await family(world)
      await child.succeed(complete())
      await keeps(world, child.run.id, 'completed', 'its parent is running')
      await parent.succeed(FOR_A_CHILD)
      await keeps(world, child.run.id, 'completed', 'its parent is pending')
      const again = await mustClaim(world)
      await again.succeed(fail())
      const answer = await unchanged(world, child.run.id, () => world.store.runs.delete(child.run.id))
      deepEqual(answer, { outcome: 'refused', status: 'completed' }, 'delete while its parent is failed')
      await world.store.runs.retry(parent.run.id)
      await (await mustClaim(world)).succeed(complete())
      deepEqual(await world.store.runs.delete(child.run.id), { outcome: 'deleted', status: 'completed' }, 'delete after its end')
    },

    'a child is purged at once when its parent cannot ask for it any more, else after the parent is gone': async (world) => {
      for (const [how, end, pages] of [
        ['completed', complete(), [2, 0]],
        ['cancelled', abandon(), [2, 0]],
        ['failed', fail(), [1, 1, 0]],
      ] as const) {
        const { parent, child } = await family(world)
        await child.succeed(complete())
        await parent.succeed(end)
        const gone: number[] = []
        for (const _ of pages) gone.push(await world.store.runs.purge(EVERYTHING))
        deepEqual(gone, [...pages], `pages when its parent has ${how}`)
      }
    },

    'a cancelled run is kept as long as one that it triggered has not ended': async (world) => {
      const { parent, child } = await family(world)
      await parent.succeed(abandon())
      await keeps(world, parent.run.id, 'cancelled', 'its child is running')
      await child.succeed(release())
      await keeps(world, parent.run.id, 'cancelled', 'its child is pending')
      await (await mustClaim(world, [CHILD])).succeed(complete())
      deepEqual(await world.store.runs.delete(parent.run.id), { outcome: 'deleted', status: 'cancelled' }, 'delete after that')
    },

    'a run with another end does not wait for those that it triggered': async (world) => {
      for (const end of [complete(), fail()]) {
        const parent = await held(world, { jobName: end.type })
        const child = await below(world, parent.run.id, `below ${end.type}`)
        await parent.succeed(end)
        equal((await world.store.runs.delete(parent.run.id))?.outcome, 'deleted', end.type)
        deepEqual(await get(world, child.id), child, 'the child')
      }
    },

    'a purge that keeps a child takes others of its age, and takes it when its parent is gone': async (world) => {
      const { parent, child } = await family(world)
      await child.succeed(complete())
      const other = await held(world, { jobName: CHILD })
      await other.succeed(complete())
      equal(await world.store.runs.purge({ ...EVERYTHING, limit: 1 }), 1, 'how many')
      deepEqual(ids(await world.store.runs.list({})), ids([child.run, parent.run]), 'what is left')
      await parent.succeed(complete())
      await world.store.runs.delete(parent.run.id)
      equal(await world.store.runs.purge(EVERYTHING), 1, 'how many when its parent is gone')
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
  },
  endings,
)
