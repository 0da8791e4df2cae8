// The SQL of docs/seeds.md, as it stands there: what it reads is what `subscribe` tells.
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably, type Durably, type RunLogEvent } from '../../src/index.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import { postgres } from '../../src/postgres/index.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { temporaryDatabase } from '../postgres/place.ts'
import { temporaryFile } from '../sql/place.ts'

const page = readFileSync(new URL('../../../../docs/seeds.md', import.meta.url), 'utf8')
const [viewOnSqlite = '', viewOnPostgres = '', tail = ''] = Array.from(page.matchAll(/^```sql\n([\s\S]*?)^```$/gm), ([, code = '']) => code)

const PLACES = [
  { name: 'SQLite', open: async () => sqlite(temporaryFile()), view: viewOnSqlite },
  { name: 'Postgres', open: async () => postgres(await temporaryDatabase()), view: viewOnPostgres },
]

test.each(PLACES)('the event log is read with its values on $name', async ({ open, view }) => {
  const durably = createDurably({ dialect: await open() })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  durably.use(withLogPersistence())
  await durably.migrate()
  await sql.raw(view).execute(durably.db)
  const job = durably.defineJob({ name: 'job', input: z.object({ text: z.string() }) }, async (ctx, { text }) => {
    ctx.log.info('begins', { text, at: [1, null] })
    const length = await ctx.run('measure', ({ log }) => {
      log.warn('inside', [text])
      ctx.progress(1, 2, 'half')
      return { length: text.length, said: `“${text}”` }
    })
    await ctx.run('breaks', () => Promise.reject(new Error('no "way"'))).catch(() => {})
    return [length]
  })
  const { id } = await job.trigger({ text: "it's" })
  const failing = durably.defineJob({ name: 'failing', input: z.null() }, () => Promise.reject(new Error('bad')))
  const failed = await failing.trigger(null)
  await durably.processUntilIdle()

  for (const runId of [id, failed.id]) {
    const told: RunLogEvent[] = []
    for await (const event of durably.subscribe(runId)) told.push(event)
    const read = await readTail(durably, runId, 0)
    expect(read.map(({ seq, event_type }) => [Number(seq), event_type])).toEqual(told.map(({ sequence, type }) => [sequence, type]))
    expect(read.map(({ payload }) => valuesOf(typeof payload === 'string' ? JSON.parse(payload) : payload))).toEqual(told.map(valuesOf))
    expect(await readTail(durably, runId, 2)).toEqual(read.slice(2))
  }
  expect((await readTail(durably, id, 0)).map(({ event_type }) => event_type)).toEqual(
    expect.arrayContaining([
      'run:trigger',
      'run:start',
      'log:write',
      'step:start',
      'run:progress',
      'step:complete',
      'step:fail',
      'run:complete',
    ]),
  )
})

/** What an event says: without what stands in its other columns, or follows from the rows. */
function valuesOf(event: object): object {
  const known = ['type', 'sequence', 'timestamp', 'runId', 'jobName', 'duration', 'generation']
  return Object.fromEntries(Object.entries(event).filter(([key]) => !known.includes(key)))
}

interface Line {
  seq: number | string
  event_type: string
  payload: unknown
}

async function readTail({ db }: Durably, runId: string, after: number): Promise<Line[]> {
  const [start = '', middle = '', end = ''] = tail.split(/\$[12]/)
  const { rows } = await sql<Line>`${sql.raw(start)}${runId}${sql.raw(middle)}${after}${sql.raw(end)}`.execute(db)
  return rows
}
