// A database that durably shares with others: its tables can be read by hand, and carry a prefix if asked to.
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { withLogPersistence } from '../../src/plugins/index.ts'
import { setup } from './world.ts'

const anything = z.unknown()

describe('a shared SQLite file', () => {
  test('durably.db reads the state that the seed promises to be readable (000 §スキーマ)', async () => {
    const { durably, soon } = await setup('sqlite')
    durably.use(withLogPersistence())
    const job = durably.defineJob({ name: 'sync', input: z.object({ orgId: z.string() }) }, async (ctx, { orgId }) => {
      ctx.progress(1, 2, 'half')
      await ctx.run('fetch', () => [orgId])
      ctx.log.warn('careful', { orgId })
      return { done: true }
    })
    const { id } = await job.trigger({ orgId: 'a' }, { idempotencyKey: 'i', concurrencyKey: 'c' })
    await soon(durably.processUntilIdle())
    await soon(durably.stop())

    const run = await durably.db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    expect(run).toMatchObject({
      job_name: 'sync',
      payload: '{"orgId":"a"}',
      status: 'completed',
      idempotency_key: 'i',
      concurrency_key: 'c',
      current_step_index: 1,
      progress: '{"current":1,"total":2,"message":"half"}',
      output: '{"done":true}',
      error: null,
      heartbeat_at: '2025-01-01T00:00:00.000Z',
      created_at: '2025-01-01T00:00:00.000Z',
      updated_at: '2025-01-01T00:00:00.000Z',
    })
    expect(await durably.db.selectFrom('steps').select(['run_id', 'name', 'index', 'status', 'output', 'error']).execute()).toEqual([
      { run_id: id, name: 'fetch', index: 0, status: 'completed', output: '["a"]', error: null },
    ])
    expect(await durably.db.selectFrom('logs').select(['level', 'step_name', 'data']).where('message', '=', 'careful').execute()).toEqual([
      { level: 'warn', step_name: null, data: '{"orgId":"a"}' },
    ])
  })

  test('instances with different prefixes share a file and do not see each other', async () => {
    const { durably, another, soon } = await setup('sqlite')
    const prefixed = another({ tablePrefix: 'durably_' })
    await prefixed.migrate()
    const ran: string[] = []
    const jobs = [durably, prefixed].map((instance, i) =>
      instance.defineJob({ name: 'job', input: anything }, async () => void ran.push(i === 0 ? 'plain' : 'prefixed')),
    )
    await jobs[1]?.trigger(null)
    expect(await soon(durably.processUntilIdle())).toBe(0)
    expect(await soon(prefixed.processUntilIdle())).toBe(1)
    expect(ran).toEqual(['prefixed'])
    const tables = await sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'durably_%'`.execute(
      durably.db,
    )
    expect(tables.rows.map(({ name }) => name).toSorted()).toEqual([
      'durably_archive_removals',
      'durably_audit',
      'durably_inbox',
      'durably_job_definitions',
      'durably_leaders',
      'durably_logs',
      'durably_run_events',
      'durably_run_labels',
      'durably_runs',
      'durably_schedules',
      'durably_schema_versions',
      'durably_settings',
      'durably_signals',
      'durably_steps',
      'durably_workers',
    ])
  })

  test('a user’s own tables and transactions live beside ours', async () => {
    const { durably, soon } = await setup('sqlite')
    await sql`CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)`.execute(durably.db)
    const job = durably.defineJob({ name: 'job', input: z.string() }, (ctx, name) =>
      ctx.run('save', async () => {
        await durably.db.transaction().execute((trx) => sql`INSERT INTO users (name) VALUES (${name})`.execute(trx))
      }),
    )
    await job.batchTrigger(['a', 'b', 'c'].map((payload) => ({ payload })))
    expect(await soon(durably.processUntilIdle())).toBe(3)
    const users = await sql<{ name: string }>`SELECT name FROM users ORDER BY id`.execute(durably.db)
    expect(users.rows).toEqual([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
  })
})
