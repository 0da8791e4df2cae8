// A real synchronous driver: a busy worker must not hold the event loop.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { type Env, systemEnv } from '../../src/model/env.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { NodeSqliteDriver } from '../../src/sqlite/node-driver.ts'

async function realWorld(options: { concurrency?: number; env?: Env } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'durably-loop-'))
  const durably = createDurably({ dialect: sqlite(join(folder, 'test.db'), { durability: 'relaxed' }), env: countedTime(), ...options })
  await durably.migrate()
  onTestFinished(async () => {
    await durably[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  return durably
}

/** Each look at the monotonic clock costs a millisecond: how much is done in one turn does not depend on the machine. */
function countedTime(): Env {
  let ms = 0
  return { ...systemEnv(), mono: () => ++ms }
}

/** How many turns of the event loop there were while `work` went on. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let goesOn = true
  const count = () => {
    turns++
    if (goesOn) setImmediate(count)
  }
  setImmediate(count)
  await work.finally(() => {
    goesOn = false
  })
  return turns
}

test.each([1, 10])('others have their turns while a synchronous driver drains many runs (concurrency %i)', async (concurrency) => {
  const durably = await realWorld({ concurrency })
  let left = 150
  const job = durably.defineJob({ name: 'job', input: z.number() }, (ctx) => ctx.run('step', () => 1))
  await job.batchTrigger(Array.from({ length: left }, (_, i) => ({ payload: i })))
  const drained = new Promise<void>((resolve) => void durably.on('run:complete', () => --left === 0 && resolve()))
  durably.start()
  expect(await turnsDuring(drained)).toBeGreaterThan(150 / concurrency)
})

test('others have their turns while one run records many steps', async () => {
  const durably = await realWorld()
  const job = durably.defineJob({ name: 'job', input: z.unknown() }, async (ctx) => {
    for (let i = 0; i < 300; i++) await ctx.run(`step ${i}`, () => i)
  })
  await job.trigger(null)
  expect(await turnsDuring(durably.processUntilIdle())).toBeGreaterThan(30)
  expect(await durably.getRuns()).toMatchObject([{ status: 'completed', currentStepIndex: 300 }])
})

test('a run that was claimed begins before its worker looks for more', async () => {
  const order: string[] = []
  const executeNow = NodeSqliteDriver.prototype.executeNow
  vi.spyOn(NodeSqliteDriver.prototype, 'executeNow').mockImplementation(function (this: NodeSqliteDriver, queries, onFailedRollback) {
    if (queries.some(({ sql }) => sql.includes('next_duty_at'))) order.push('look')
    return executeNow.call(this, queries, onFailedRollback)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const durably = await realWorld({ concurrency: 10, env: { ...systemEnv(), mono: () => 0 } })
  const job = durably.defineJob({ name: 'job', input: z.unknown() }, async () => void order.push('begin'))
  durably.start()
  const reached = async (event: string) => {
    while (!order.includes(event)) await new Promise((resolve) => setImmediate(resolve))
  }
  await reached('look')
  await job.trigger(null)
  await reached('begin')
  expect(order.slice(0, 2)).toEqual(['look', 'begin'])
})
