// Few commits, counted not timed: what each operation costs on SQLite. The numbers stand in docs/commits.md,
// and `npm run docs` writes them there.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { type CountingDialect, countingDialect } from '../../src/testing/counting-dialect.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { type Cost, commitsDoc } from './commits-doc.ts'

const DOC = fileURLToPath(new URL('../../../../docs/commits.md', import.meta.url))
const costs: Cost[] = []

async function setup(options: { concurrency?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'durably-commits-'))
  const env = virtualEnv()
  const dialect = countingDialect(sqlite(join(folder, 'test.db')))
  const durably = createDurably({ dialect, env, ...options })
  await durably.migrate()
  const job = durably.defineJob({ name: 'job', input: z.number() }, async (ctx, steps) => {
    for (let i = 0; i < steps; i++) {
      await ctx.run(`step ${i}`, () => {
        if (steps === 10) ctx.progress(i, steps)
        return i
      })
    }
  })
  onTestFinished(async () => {
    await durably[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  const cost = async (operation: string, run: () => Promise<unknown>) => {
    dialect.reset()
    await run()
    const statements = [...dialect.statements]
    const own = statements.filter((sql) => !/^\s*(begin|commit)\b/i.test(sql)).length
    const measured = { operation, commits: dialect.commits, statements: own, reads: readsOf(statements).length }
    costs.push(measured)
    return { ...measured, all: statements }
  }
  return { durably, env, dialect, job, cost }
}

/** Reads that are not part of a transaction. */
function readsOf(statements: readonly string[]): string[] {
  let isOpen = false
  return statements.filter((sql) => {
    if (/^\s*(begin|commit|rollback)\b/i.test(sql)) isOpen = /^\s*begin/i.test(sql)
    return !isOpen && /^\s*(select|with)\b/i.test(sql)
  })
}

/** What happens between the commit of the first recorded step and the last one. */
function betweenSteps({ statements }: CountingDialect): string[] {
  const isStep = (sql: string) => /insert into "?steps/i.test(sql)
  const first = statements.findIndex(isStep)
  const last = statements.findLastIndex(isStep)
  const end = statements.findIndex((sql, i) => i > first && /^\s*commit/i.test(sql))
  return first < 0 ? [] : statements.slice(end, last)
}

test('trigger is one commit', async () => {
  const { job, cost } = await setup()
  expect(await cost('`trigger`', () => job.trigger(0))).toMatchObject({ commits: 1 })
  await job.trigger(0, { idempotencyKey: 'known' })
  expect((await cost('`trigger` with a known key', () => job.trigger(0, { idempotencyKey: 'known' }))).commits).toBeLessThanOrEqual(1)
})

test('batchTrigger of 1,000 is one commit and at most 10 statements', async () => {
  const { job, cost } = await setup()
  const batch = Array.from({ length: 1000 }, (_, i) => ({ payload: i, options: { idempotencyKey: `${i}` } }))
  const { commits, all } = await cost('`batchTrigger` of 1,000', () => job.batchTrigger(batch))
  expect(commits).toBe(1)
  expect(all.length).toBeLessThanOrEqual(10)
})

test.each([0, 1, 10, 100])('a run of %i steps takes at most that + 2 commits, and no read between steps', async (steps) => {
  const { durably, dialect, job, cost } = await setup()
  await job.trigger(steps)
  const what = steps === 10 ? 'a run of 10 steps, with progress in each' : `a run of ${steps} step${steps === 1 ? '' : 's'}`
  const { commits, reads } = await cost(what, () => durably.processOne())
  expect(commits).toBeLessThanOrEqual(steps + 2)
  // The look before the claim; nothing is read afterwards.
  expect(reads).toBe(1)
  expect(readsOf(betweenSteps(dialect))).toEqual([])
})

test('ten runs in step share their commits', async () => {
  const { durably, env, job, cost } = await setup({ concurrency: 10 })
  await job.batchTrigger(Array.from({ length: 10 }, () => ({ payload: 5 })))
  const { commits } = await cost('10 runs of 5 steps each, at once', async () => {
    durably.start()
    await env.advance(100)
  })
  expect(await durably.getRuns({ status: 'completed' })).toHaveLength(10)
  // The last one is the claim that finds nothing more.
  expect(commits).toBe(5 + 2 + 1)
  await durably.stop()
})

test('a run that is resumed after 10 steps reads them once, after the claim', async () => {
  const { durably, job, cost } = await setup()
  const { id } = await job.trigger(10)
  await durably.processOne()
  await durably.db.updateTable('runs').set({ status: 'failed' }).where('id', '=', id).execute()
  await cost('`retry`', () => durably.retry(id))
  const { commits, reads } = await cost('a run that is resumed after its 10 steps', () => durably.processOne())
  expect(commits).toBe(2)
  expect(reads).toBe(2)
})

test('an idle poll is exactly one read-only statement', async () => {
  const { durably, env, cost } = await setup()
  durably.start()
  await env.advance(5000)
  const { all, commits } = await cost('an idle poll', () => env.advance(1000))
  expect(commits).toBe(0)
  expect(all).toEqual([expect.stringMatching(/^\s*select/i)])
  await durably.stop()
})

test('a heartbeat is one commit, and only a long step needs one', async () => {
  const { durably, env, cost } = await setup()
  const long = durably.defineJob({ name: 'long', input: z.number() }, (ctx) =>
    ctx.run('long', () => new Promise<void>((resolve) => void env.timer(60_000, resolve))),
  )
  await long.trigger(0)
  const done = durably.processOne()
  await env.advance(4000)
  const { commits } = await cost('a heartbeat', () => env.advance(1000))
  expect(commits).toBe(1)
  await env.advance(60_000)
  await done
})

test('progress costs ten commits a second, however often a job reports it', async () => {
  const { durably, env, cost } = await setup()
  const busy = durably.defineJob({ name: 'busy', input: z.number() }, (ctx) =>
    ctx.run('long', async () => {
      for (let i = 0; i < 10_000; i++) {
        ctx.progress(i, 10_000)
        if (i % 10 === 9) await new Promise<void>((resolve) => void env.timer(1, resolve))
      }
    }),
  )
  await busy.trigger(0)
  const { commits } = await cost('a run of 1 step that takes a second, with progress 10,000 times', async () => {
    const done = durably.processOne()
    await env.advance(1000)
    await done
  })
  expect(commits).toBeLessThanOrEqual(3 + 10)
})

test('what a person does to a run is one commit at most', async () => {
  const { durably, job, cost } = await setup()
  const { id } = await job.trigger(0)
  expect(await cost('`getRun`', () => durably.getRun(id))).toMatchObject({ commits: 0, statements: 1 })
  expect(await cost('`getRuns`', () => durably.getRuns({ limit: 10 }))).toMatchObject({ commits: 0, statements: 1 })
  expect(await cost('`cancel`', () => durably.cancel(id))).toMatchObject({ commits: 1 })
  expect(await cost('`deleteRun`', () => durably.deleteRun(id))).toMatchObject({ commits: 1 })
})

test('a schedule costs one commit for each time, and one for the election', async () => {
  const { durably, env, cost } = await setup()
  const define = () => durably.schedule({ job: 'none', every: '1m' })
  expect(await cost('`schedule` of a new one', define)).toMatchObject({ commits: 1 })
  expect(await cost('`schedule` of one that is unchanged', define)).toMatchObject({ commits: 0, statements: 1 })
  durably.start()
  await env.advance(59_500)
  const idle = await cost('an idle poll while a schedule is ahead', () => env.advance(400))
  expect(idle).toMatchObject({ commits: 0 })
  expect(idle.statements).toBeLessThanOrEqual(1)
  expect(await cost('the election, firing a schedule, and the claim after it', () => env.advance(100))).toMatchObject({ commits: 3 })
  await durably.schedule({ job: 'none', every: '2s' })
  await env.advance(1900)
  expect(await cost('firing a schedule as the leader, and the claim after it', () => env.advance(200))).toMatchObject({ commits: 2 })
  expect(await cost('`stop` of the leader', () => durably.stop())).toMatchObject({ commits: 1 })
})

// The costs were gathered by the tests above, so this one only says something when all of them run.
test('docs/commits.md holds these numbers', () => {
  const expected = commitsDoc(costs)
  if (process.env.UPDATE_DOCS) writeFileSync(DOC, expected)
  expect(readFileSync(DOC, 'utf8'), 'docs/commits.md is stale: run `npm run docs` and commit the result').toBe(expected)
})
