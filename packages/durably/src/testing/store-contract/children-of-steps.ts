// A step of a run has one child, which every caller that asks for it gets.
import type { NewRun } from '../../store/runs.ts'
import { deepEqual, equal, ok, rejects } from '../assert.ts'
import { chapter } from './chapter.ts'
import { CHILD } from './family.ts'
import { complete, create, get, held, ids, mustClaim, newRun, release } from './world.ts'

export const childrenOfSteps = chapter('children of steps', {
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
})
