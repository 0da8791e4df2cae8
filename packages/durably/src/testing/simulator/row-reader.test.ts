import { expect, test } from 'vitest'
import { sqlite } from '../../sqlite/index.ts'
import { create, createInTurn, newRun } from '../store-contract/world.ts'
import { virtualEnv } from '../virtual-env.ts'
import { sqlWorlds } from './sql-worlds.ts'

const newWorlds = () => sqlWorlds(() => sqlite(':memory:'))

async function open(openWorld = newWorlds()) {
  const env = virtualEnv()
  const { store, listRuns } = await openWorld(env)
  const list = async () => (await listRuns?.()) ?? []
  return { env, store, list }
}

test('lists what the store lists, after every kind of change', async () => {
  const world = await open()
  const { store, list } = world
  const all = async () => expect(await list()).toEqual(await store.runs.list({}))
  await all()
  const [first] = await createInTurn(world, [null, null, null])
  await all()
  await store.runs.cancel(first?.id ?? '')
  await all()
  await store.runs.delete(first?.id ?? '')
  await all()
  expect(await list()).toHaveLength(2)
  await store.close()
})

test('an unchanged run keeps its object, also where two looks ask at once', async () => {
  const world = await open()
  const { store, list } = world
  const { id } = await create(world)
  const [one, other] = await Promise.all([list(), list()])
  expect(one).toHaveLength(1)
  expect(other[0]).toBe(one[0])
  await create(world)
  expect((await list()).find((run) => run.id === id)).toBe(one[0])
  await store.runs.cancel(id)
  expect((await list()).find((run) => run.id === id)).not.toBe(one[0])
  await store.close()
})

test('sees nothing of a transaction that was rolled back, and all that comes after it', async () => {
  const world = await open()
  const { store, list } = world
  const rolledBack = store.transact?.(async (trx) => {
    await store.runs.create([newRun(world)], { within: trx })
    throw new Error('changed my mind')
  })
  expect(await rolledBack).toMatchObject({ undone: new Error('changed my mind') })
  expect(await list()).toEqual([])
  const { id } = await create(world)
  expect((await list()).map((run) => run.id)).toEqual([id])
  await store.close()
})

test('the next world on the same database begins with no runs', async () => {
  const worlds = newWorlds()
  const last = await open(worlds)
  await create(last)
  expect(await last.list()).toHaveLength(1)
  await last.store.close()

  const next = await open(worlds)
  expect(await next.list()).toEqual([])
  await create(next)
  expect(await next.list()).toHaveLength(1)
  await next.store.close()
})
