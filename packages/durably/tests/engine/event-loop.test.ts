// Real time and a real synchronous driver: a busy worker must not hold the event loop.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { sqlite } from '../../src/sqlite/index.ts'

async function realWorld(options: { concurrency?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'durably-loop-'))
  const durably = createDurably({ dialect: sqlite(join(folder, 'test.db'), { durability: 'relaxed' }), ...options })
  await durably.migrate()
  onTestFinished(async () => {
    await durably[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  return durably
}

/** The longest time that a timer of 1 ms had to wait while `work` went on, and how often it fired. */
async function watchTimers(work: Promise<unknown>): Promise<{ fired: number; longestMs: number }> {
  let fired = 0
  let longestMs = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    longestMs = Math.max(longestMs, now - last)
    last = now
    fired++
  }, 1)
  await work.finally(() => clearInterval(timer))
  return { fired, longestMs }
}

test.each([1, 10])('timers fire while a synchronous driver drains many runs (concurrency %i)', async (concurrency) => {
  const durably = await realWorld({ concurrency })
  let left = 150
  const job = durably.defineJob({ name: 'job', input: z.number() }, (ctx) => ctx.run('step', () => 1))
  await job.batchTrigger(Array.from({ length: left }, (_, i) => ({ payload: i })))
  const drained = new Promise<void>((resolve) => void durably.on('run:complete', () => --left === 0 && resolve()))
  const began = performance.now()
  durably.start()
  const { fired } = await watchTimers(drained)
  // Every few milliseconds; half of what it should be leaves room for a slow machine.
  expect(fired).toBeGreaterThan((performance.now() - began) / 40)
})

test('timers fire while one run records many steps', async () => {
  const durably = await realWorld()
  const job = durably.defineJob({ name: 'job', input: z.unknown() }, async (ctx) => {
    for (let i = 0; i < 300; i++) await ctx.run(`step ${i}`, () => i)
  })
  await job.trigger(null)
  const began = performance.now()
  const { fired } = await watchTimers(durably.processUntilIdle())
  expect(fired).toBeGreaterThan((performance.now() - began) / 40)
  expect(await durably.getRuns()).toMatchObject([{ status: 'completed', currentStepIndex: 300 }])
})
