import { expect, test } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import { rejects } from '../../src/testing/assert.ts'
import { answering } from './fake-driver.ts'
import { openStore } from './place.ts'
import { newRun } from './runs.ts'

test('a key that someone else took in between is a lost race: the claim picks again', async () => {
  const { store, lose } = await setup()
  const [{ run } = { run: null }] = await store.runs.create([newRun({ concurrencyKey: 'k' })])
  lose(2)
  expect(await store.runs.claim(request('t'))).toMatchObject([{ id: run?.id }])
})

test('a caller that loses every race gets an error', async () => {
  const { store, lose } = await setup()
  await store.runs.create([newRun({ concurrencyKey: 'k' })])
  lose(100)
  await rejects(store.runs.claim(request('t')), 'store_rejected', 'claim')
})

test('a claim that is sent again has the effect of once', async () => {
  const { store } = await setup()
  await store.runs.create([newRun(), newRun()])
  const [first] = await store.runs.claim(request('t'))
  expect(await store.runs.claim(request('t'))).toEqual([first])
  expect((await store.runs.list({ statuses: ['running'] })).map(({ id }) => id)).toEqual([first?.id])
  expect(await store.events.list(first?.id ?? '')).toHaveLength(2)
})

const request = (token: string) => ({ jobNames: ['job'], tokens: [token], leaseMs: 1000 })

async function setup() {
  let losses = 0
  const dialect = answering(sqlite(':memory:'), ({ sql }) => {
    if (!sql.includes("status = 'running', lease_owner") || losses === 0) return undefined
    losses -= 1
    throw Object.assign(new Error('UNIQUE constraint failed: runs.concurrency_key'), { errcode: 2067 })
  })
  const store = openStore(dialect)
  await store.migrate()
  const lose = (times: number) => {
    losses = times
  }
  return { store, lose }
}
