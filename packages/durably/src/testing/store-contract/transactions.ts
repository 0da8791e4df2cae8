// `transact`: what the user's function writes and the owner's write take effect together, or not at all.
import type { OwnerWrite } from '../../store/owner-write.ts'
import { deepEqual, equal, ok, rejects } from '../assert.ts'
import { chapter, type UserTable, type World } from './chapter.ts'
import {
  ACCEPTED,
  attachmentsOf,
  complete,
  get,
  heartbeat,
  held,
  leasesEnd,
  mustClaim,
  newRun,
  type Owner,
  REFUSED,
  recordStep,
  unchanged,
} from './world.ts'

interface Cast {
  table: UserTable
  owner: Owner
  transact(body: (trx: unknown) => Promise<OwnerWrite>): ReturnType<NonNullable<World['store']['transact']>>
}

async function setup(world: World): Promise<Cast> {
  const { transact } = world.store
  ok(transact && world.userTable, 'a store with transactions, and a table of the user beside it')
  return { table: await world.userTable(), owner: await held(world), transact }
}

export const transactions = chapter('transactions', {
  "the user's rows and the step commit together": async (world) => {
    const { table, owner, transact } = await setup(world)
    const attachments = attachmentsOf(owner)
    const verb = recordStep(owner)
    const outcome = await transact(async (trx) => {
      await table.insert(trx, 'a')
      await table.insert(trx, 'b')
      return owner.next(verb, attachments)
    })
    deepEqual(outcome, ACCEPTED, 'outcome')
    deepEqual(await table.values(), ['a', 'b'], 'rows of the user')
    const [step] = await world.store.steps.list(owner.run.id)
    deepEqual(step, verb.type === 'recordStep' ? verb.step : undefined, 'the step')
    const row = await get(world, owner.run.id)
    deepEqual([row.currentStepIndex, row.progress, row.effects], [1, attachments.progress, attachments.effects], 'the run')
    deepEqual(await world.store.logs.list(owner.run.id), [...attachments.logs], 'log lines')
    equal((await world.store.events.list(owner.run.id)).length, 2 + attachments.events.length + 1, 'events')
    await owner.succeed(complete())
  },

  'a body that throws leaves nothing behind, and its error is returned': async (world) => {
    const { table, owner, transact } = await setup(world)
    const thrown = new Error('sold out')
    const act = () =>
      transact(async (trx) => {
        await table.insert(trx, 'a')
        throw thrown
      })
    const outcome = await unchanged(world, owner.run.id, act)
    ok('undone' in outcome && outcome.undone === thrown, 'the very same error')
    deepEqual(await table.values(), [], 'rows of the user')
    deepEqual(await owner.write(recordStep(owner)), ACCEPTED, 'the owner goes on')
  },

  'a statement of the body that fails leaves nothing behind': async (world) => {
    const { table, owner, transact } = await setup(world)
    const act = () =>
      transact(async (trx) => {
        await table.insert(trx, 'a')
        await table.breakRules(trx)
        return owner.next(recordStep(owner))
      })
    ok('undone' in (await unchanged(world, owner.run.id, act)), 'it was undone')
    deepEqual(await table.values(), [], 'rows of the user')
    equal(await world.store.runs.probe(['nothing']).then(({ due }) => due), false, 'the connection is fit for use')
  },

  'a refused write undoes what the body wrote': async (world) => {
    const { table, owner, transact } = await setup(world)
    await leasesEnd(world)
    await world.store.runs.reap({ maxRecoveries: 10 })
    const next = await mustClaim(world)
    const act = () =>
      transact(async (trx) => {
        await table.insert(trx, 'a')
        return owner.next(recordStep(owner), attachmentsOf(owner))
      })
    deepEqual(await unchanged(world, owner.run.id, act), REFUSED, 'outcome')
    deepEqual(await table.values(), [], 'rows of the user')
    await next.succeed(recordStep(next))
  },

  'a step that is recorded already undoes what the body wrote': async (world) => {
    const { table, owner, transact } = await setup(world)
    await owner.succeed(recordStep(owner))
    const act = () =>
      transact(async (trx) => {
        await table.insert(trx, 'a')
        return owner.next(recordStep(owner))
      })
    deepEqual(await unchanged(world, owner.run.id, act), REFUSED, 'outcome')
    deepEqual(await table.values(), [], 'rows of the user')
  },

  'a transaction sent again writes nothing twice': async (world) => {
    const { table, owner, transact } = await setup(world)
    const write = owner.next(recordStep(owner))
    const body = async (trx: unknown) => {
      await table.insert(trx, 'a')
      return write
    }
    deepEqual(await transact(body), ACCEPTED, 'the first time')
    deepEqual(await unchanged(world, owner.run.id, () => transact(body)), REFUSED, 'the second time')
    deepEqual(await table.values(), ['a'], 'rows of the user')
  },

  'a query that comes after the end is refused': async (world) => {
    const { table, owner, transact } = await setup(world)
    let late: unknown
    await transact(async (trx) => {
      late = trx
      return owner.next(recordStep(owner))
    })
    await rejects(table.insert(late, 'a'), 'context_closed', 'after a commit')
    await transact(async (trx) => {
      late = trx
      throw new Error('no')
    })
    await rejects(table.insert(late, 'a'), 'context_closed', 'after a rollback')
    deepEqual(await table.values(), [], 'rows of the user')
  },

  'a query that nobody waits for cannot come between the writes of the store': async (world) => {
    const { table, owner, transact } = await setup(world)
    let strays: Promise<unknown> = Promise.resolve()
    const outcome = await transact(async (trx) => {
      await table.insert(trx, 'a')
      strays = strayQueries(table, trx)
      return owner.next(recordStep(owner), attachmentsOf(owner))
    })
    await strays
    deepEqual(outcome, ACCEPTED, 'outcome')
    equal((await world.store.steps.list(owner.run.id)).length, 1, 'steps')
    equal((await world.store.logs.list(owner.run.id)).length, 1, 'log lines')
  },

  'a transaction inside one is refused': async (world) => {
    const { table, owner, transact } = await setup(world)
    const outcome = await transact(async (trx) => {
      await rejects(table.nested(trx), 'invalid_argument', 'a second begin')
      return owner.next(recordStep(owner))
    })
    deepEqual(outcome, ACCEPTED, 'outcome')
  },

  'several at once take effect one by one': async (world) => {
    const { table, owner, transact } = await setup(world)
    const others = [await held(world, { jobName: 'b' }), await held(world, { jobName: 'c' })]
    const outcomes = await Promise.all(
      [owner, ...others].map((each, i) =>
        transact(async (trx) => {
          await table.insert(trx, `${i}`)
          return each.next(recordStep(each))
        }),
      ),
    )
    deepEqual(outcomes, [ACCEPTED, ACCEPTED, ACCEPTED], 'outcomes')
    deepEqual(await table.values(), ['0', '1', '2'], 'rows of the user')
  },

  'a cancel shows in the outcome': async (world) => {
    const { table, owner, transact } = await setup(world)
    await world.store.runs.cancel(owner.run.id)
    const outcome = await transact(async (trx) => {
      await table.insert(trx, 'a')
      return owner.next(heartbeat())
    })
    deepEqual(outcome, { ok: true, cancelRequested: true }, 'outcome')
  },

  'runs created inside the transaction of a step are there when it commits, and only then': async (world) => {
    const { owner, transact } = await setup(world)
    const [lost, kept] = [newRun(world), newRun(world)]
    await transact(async (trx) => {
      await world.store.runs.create([lost], { within: trx })
      throw new Error('no')
    })
    await transact(async (trx) => {
      await world.store.runs.create([kept], { within: trx })
      return owner.next(recordStep(owner))
    })
    equal(await world.store.runs.get(lost.id), null, 'rolled back')
    equal((await get(world, kept.id)).status, 'pending', 'committed')
  },
})

/** They change nothing, again and again, for as long as they are let. */
async function strayQueries(table: UserTable, trx: unknown): Promise<void> {
  try {
    for (let i = 0; i < 50; i++) await table.remove(trx, 'nobody')
  } catch {
    // Refused.
  }
}
