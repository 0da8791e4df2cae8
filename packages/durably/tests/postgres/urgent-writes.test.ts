// What keeps runs alive does not wait behind other work of the process.
import { CompiledQuery } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../src/postgres/index.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { openStore } from '../sql/place.ts'
import { claimed, newRun, recordStep } from '../sql/runs.ts'
import { temporaryDatabase } from './place.ts'

const LOCKED = CompiledQuery.raw('select pg_advisory_xact_lock(7)')

/** A store over so many connections, and a lock that queries of the user wait for. */
async function setup(max: number, over: 'a URL' | 'a pool') {
  const url = await temporaryDatabase()
  const holder = new pg.Client(url)
  await holder.connect()
  onTestFinished(() => holder.end())
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  const store = openStore(over === 'a URL' ? postgres(url, { max }) : postgres(pool))
  await store.migrate()
  await store.runs.create([newRun()])
  const claim = await claimed(store)
  await holder.query('select pg_advisory_lock(7)')
  return { store, claim, unlock: () => holder.query('select pg_advisory_unlock(7)') }
}

const userQuery = ({ db }: SqlStore) => db.executeQuery(LOCKED)

test.each(['a URL', 'a pool'] as const)('over %s: queries that hold all they can get leave a connection for owners', async (over) => {
  const { store, claim, unlock } = await setup(3, over)
  const users = Array.from({ length: 10 }, () => userQuery(store))
  const reads = Array.from({ length: 10 }, () => store.runs.get(claim.runId))
  expect(await store.runs.apply([recordStep(claim, 1)])).toEqual([{ ok: true, cancelRequested: false }])
  // Whether there is something for them does not matter: they are answered.
  await store.runs.claim({ jobNames: ['job'], tokens: ['t'], leaseMs: 1000 })
  await store.runs.reap({ maxRecoveries: 1 })
  await unlock()
  await Promise.all(users)
  expect((await Promise.all(reads)).every((run) => run?.id === claim.runId)).toBe(true)
})

test('with one connection the write of an owner is the next to go', async () => {
  const { store, claim, unlock } = await setup(1, 'a URL')
  const order: string[] = []
  const note = (what: string, done: Promise<unknown>) => done.then(() => order.push(what))
  const all = [note('user', userQuery(store))]
  for (let i = 0; i < 3; i++) all.push(note('read', store.steps.list(claim.runId)), note('create', store.runs.create([newRun(), newRun()])))
  all.push(note('owner', store.runs.apply([recordStep(claim, 1)])))
  await unlock()
  await Promise.all(all)
  expect(order).toEqual(['user', 'owner', 'read', 'create', 'read', 'create', 'read', 'create'])
})

test('a connection that could not be had, or was lost, leaves its place to the next', async () => {
  const url = await temporaryDatabase()
  const store = openStore(postgres(url, { max: 1 }))
  await store.migrate()
  const kill = CompiledQuery.raw('select pg_terminate_backend(pg_backend_pid())')
  for (let i = 0; i < 3; i++) await store.db.executeQuery(kill).catch(() => {})
  expect(await store.runs.get('x')).toBe(null)
})
