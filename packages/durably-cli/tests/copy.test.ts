// Everything moves from a SQLite file to Postgres: nothing is lost, nothing runs twice.
import { join } from 'node:path'
import type { Durably } from '@coji/durably'
import { withLogPersistence } from '@coji/durably/plugins'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { OF_RUNS } from '../src/copy/tables.ts'
import { cli, openAt, temporaryFolder } from './cli.ts'
import { temporaryDatabase } from './temporary-database.ts'

interface Gate {
  opened: Promise<void>
  open: () => void
  reached: Promise<void>
  reach: () => void
}

function gate(): Gate {
  const made: Partial<Gate> = {}
  made.opened = new Promise((resolve) => {
    made.open = resolve
  })
  made.reached = new Promise((resolve) => {
    made.reach = resolve
  })
  return made as Gate
}

/** The same job on both sides; `executed` notes which side ran which step. */
function define(durably: Durably, side: string, executed: string[], held?: Gate) {
  return durably.defineJob({ name: 'order', input: z.object({ id: z.string() }) }, async (ctx, { id }) => {
    ctx.log.info(`order ${id} on ${side}`)
    await ctx.run('reserve', () => void executed.push(`${id} reserve ${side}`))
    if (id === 'waits') await ctx.waitFor('approval')
    if (id === 'fails' && side === 'sqlite') throw new Error('no')
    await ctx.run('charge', async () => {
      executed.push(`${id} charge ${side}`)
      if (id !== 'held') return
      held?.reach()
      await held?.opened
    })
    return `${id} by ${side}`
  })
}

async function setup() {
  const [file, url] = [join(temporaryFolder(), 'test.db'), await temporaryDatabase()]
  const source = (await openAt(file)).use(withLogPersistence())
  const executed: string[] = []
  const held = gate()
  const order = define(source, 'sqlite', executed, held)
  const trigger = (id: string) => order.trigger({ id }, { labels: { order: id }, idempotencyKey: id })
  const [done, fails, waits] = [await trigger('done'), await trigger('fails'), await trigger('waits')]
  await source.processUntilIdle()
  await source.schedule({ job: order, every: '1h', payload: { id: 'scheduled' } })
  await source.send('order.wanted', { id: 'sent' }, { dedupeKey: 'sent-1' })
  return { file, url, source, executed, held, trigger, done, fails, waits }
}

function inboxOf({ db }: Durably) {
  return db.selectFrom('inbox').select(['dedupe_key', 'processed_at']).execute()
}

test('ended runs, waiting runs, one in the middle of a step, and schedules', { timeout: 40_000 }, async () => {
  const { file, url, source, executed, held, trigger, done, fails, waits } = await setup()
  const running = await trigger('held')
  source.start()
  await held.reached

  expect(await cli(['copy', file, url])).toMatchObject({ code: 1, err: expect.stringContaining('4 runs and their histories would go to') })
  const copied = await cli(['copy', file, url, '--yes', '--json'])
  expect(copied).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(copied.out)).toMatchObject({
    runs: 4,
    fenced: 2,
    schedules: 1,
    events: 1,
    checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  // The step in the file ends now, and is refused.
  held.open()
  await source.stop()
  expect(await source.getRun(running.id)).toMatchObject({ status: 'cancelled', error: expect.stringContaining('moved to postgres') })
  expect((await source.getSteps(running.id)).map(({ name }) => name)).toEqual(['reserve'])
  expect(await source.schedules.get('order')).toMatchObject({ paused: true })

  const target = await openAt(url)
  define(target, 'postgres', executed)
  for (const id of [done.id, fails.id]) {
    expect(await target.getRun(id)).toEqual(await source.getRun(id))
    expect(await target.getSteps(id)).toEqual(await source.getSteps(id))
    expect(await target.getLogs(id)).toEqual(await source.getLogs(id))
  }
  expect(await target.schedules.get('order')).toMatchObject({ paused: false, every: 3_600_000 })
  // The leader of the source had delivered it; its key must not be taken again.
  expect(await inboxOf(target)).toMatchObject([{ dedupe_key: 'sent-1', processed_at: expect.anything() }])
  expect((await target.getRuns({ labels: { order: 'waits' } })).map(({ id }) => id)).toEqual([waits.id])
  await target.signal(waits.id, 'approval', true)
  await target.processUntilIdle()
  expect(await target.getRun(running.id)).toMatchObject({ status: 'completed', output: 'held by postgres' })
  expect(await target.getRun(waits.id)).toMatchObject({ status: 'completed', output: 'waits by postgres' })
  expect(executed.filter((step) => step.includes('reserve') && step.endsWith('postgres'))).toEqual([])
  const types: string[] = []
  for await (const { type } of target.subscribe(running.id)) types.push(type)
  expect(types.filter((type) => type.startsWith('run:'))).toEqual(['run:trigger', 'run:start', 'run:release', 'run:start', 'run:complete'])

  // Again: what is there stays as it is, and what was triggered meanwhile follows.
  const late = await trigger('late')
  expect(JSON.parse((await cli(['copy', file, url, '--yes', '--json'])).out)).toMatchObject({ runs: 5, fenced: 1 })
  expect(await target.getRun(running.id)).toMatchObject({ status: 'completed' })
  expect(await target.getRun(late.id)).toMatchObject({ status: 'pending' })
})

test('a copy that was interrupted after the fence goes on', { timeout: 40_000 }, async () => {
  const { file, source, waits } = await setup()
  const unreachable = await cli(['copy', file, 'postgres://127.0.0.1:1/nothing', '--yes'])
  expect(unreachable.code).toBe(3)
  expect(await source.getRun(waits.id)).toMatchObject({ status: 'pending' })
  const url = await temporaryDatabase()
  const target = await openAt(url)
  // Something that cannot arrive: the batch of the moved run is taken back as a whole.
  await target.db.schema.alterTable('signals').renameTo('signals_elsewhere').execute()
  await source.db.deleteFrom('runs').where('status', 'in', ['completed', 'failed']).execute()
  expect((await cli(['copy', file, url, '--yes'])).code).not.toBe(0)
  expect(await source.getRun(waits.id)).toMatchObject({ status: 'cancelled' })
  expect(await target.db.selectFrom('runs').selectAll().execute()).toEqual([])
  await target.db.schema
    .alterTable('signals_elsewhere' as 'signals')
    .renameTo('signals')
    .execute()
  expect(await cli(['copy', file, url, '--yes'])).toMatchObject({ code: 0 })
  expect(await target.getRun(waits.id)).toMatchObject({ id: waits.id, status: 'pending' })
  expect(await inboxOf(target)).toEqual([{ dedupe_key: 'sent-1', processed_at: null }])
  expect(await inboxOf(source)).toMatchObject([{ dedupe_key: 'sent-1', processed_at: expect.any(Number) }])
})

test('every table of the engine is copied, or is known to stay', async () => {
  const durably = await openAt(join(temporaryFolder(), 'test.db'))
  const { rows } = await sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`.execute(
    durably.db,
  )
  const copied = ['runs', ...OF_RUNS.map(({ table }) => table), 'schedules', 'inbox', 'job_definitions', 'settings', 'audit', 'leaders']
  const stay = ['workers', 'archive_removals', 'schema_versions']
  expect(rows.map(({ name }) => name).sort()).toEqual([...copied, ...stay].sort())
})
