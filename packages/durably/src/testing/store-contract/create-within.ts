// Runs created inside a transaction of the caller's own are there when it commits.
import { deepEqual, equal, ok, rejects } from '../assert.ts'
import { chapter, type UserTable, type World } from './chapter.ts'
import { claim, create, eventTypes, get, mustClaim, newRun } from './world.ts'

async function tableOf(world: World): Promise<UserTable> {
  ok(world.userTable, 'a table of the user beside the store')
  return world.userTable()
}

export const createWithin = chapter('create within a transaction', {
  "runs and the caller's rows are there when the transaction commits": async (world) => {
    const table = await tableOf(world)
    const runs = [newRun(world, { delayMs: 5 }), newRun(world, { idempotencyKey: 'k' })]
    const created = await table.transaction(async (trx) => {
      await table.insert(trx, 'a')
      return world.store.runs.create(runs, { within: trx })
    })
    deepEqual(
      created.map(({ run, created }) => [run.id, created]),
      runs.map(({ id }) => [id, true]),
      'answers',
    )
    deepEqual(await table.values(), ['a'], 'rows of the user')
    for (const { run } of created) {
      deepEqual(await get(world, run.id), run, 'the stored run')
      deepEqual(await eventTypes(world, run.id), ['run:trigger'], 'events')
    }
    equal((await mustClaim(world)).run.id, runs[1]?.id, 'the one that is due')
  },

  'a transaction that is rolled back leaves no run': async (world) => {
    const table = await tableOf(world)
    const run = newRun(world, { idempotencyKey: 'k' })
    const undone = table.transaction(async (trx) => {
      await world.store.runs.create([run], { within: trx })
      await table.insert(trx, 'a')
      throw new Error('no')
    })
    equal(
      await undone.then(
        () => 'committed',
        () => 'rolled back',
      ),
      'rolled back',
      'the transaction',
    )
    equal(await world.store.runs.get(run.id), null, 'the run')
    deepEqual(await world.store.events.list(run.id), [], 'its events')
    equal(await claim(world), null, 'nothing to claim')
    equal((await create(world, { idempotencyKey: 'k' })).id !== run.id, true, 'its key is free')
  },

  'a known idempotency key answers with the run that has it, also inside a transaction': async (world) => {
    const table = await tableOf(world)
    const known = await create(world, { idempotencyKey: 'k' })
    const answers = await table.transaction((trx) => world.store.runs.create([newRun(world, { idempotencyKey: 'k' })], { within: trx }))
    deepEqual(answers, [{ run: known, created: false }], 'answers')
  },

  'what is no transaction is refused': async (world) => {
    await tableOf(world)
    for (const within of [{}, 'transaction', { executeQuery: 1 }]) {
      await rejects(world.store.runs.create([newRun(world)], { within }), 'invalid_argument', 'create')
    }
    deepEqual(await world.store.runs.list({}), [], 'runs')
  },
})
