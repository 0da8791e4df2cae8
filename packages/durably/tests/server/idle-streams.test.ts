// What open streams cost while nothing happens: one look for all of them, not one for each.
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { allowAll, durablyHandler } from '../../src/server/index.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { countingDialect } from '../../src/testing/counting-dialect.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { temporaryFile } from '../sql/place.ts'
import { Heard } from './sse.ts'
import { request } from './world.ts'

const POLLS = 20

test.each([
  ['each of its own run', (ids: string[], i: number) => `/runs/${ids[i]}/events`],
  ['all of one run', (ids: string[]) => `/runs/${ids[0]}/events`],
  ['each of fifty runs', (ids: string[]) => `/events?${ids.map((id) => `run=${id}`).join('&')}`],
  ['of the feed', () => '/events'],
])('fifty idle streams, %s, make one query per polling interval', async (_, pathOf) => {
  const env = virtualEnv()
  const dialect = countingDialect(sqlite(temporaryFile(), { durability: 'relaxed' }))
  const durably = createDurably({ env, dialect })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  await durably.migrate()
  const job = durably.defineJob({ name: 'job', input: z.unknown() }, () => {})
  const runs = await job.batchTrigger(Array.from({ length: 50 }, () => ({ payload: {} })))
  const handler = durablyHandler(durably, { authorize: allowAll() })
  const ids = runs.map(({ id }) => id)
  const streams: Heard[] = []
  for (let i = 0; i < 50; i++) streams.push(new Heard(await handler(request('GET', pathOf(ids, i)))))
  for (const heard of streams) heard.all()
  // The first look knows nothing yet and wakes them all.
  await env.advance(3000)
  expect(streams.every(({ told }) => told.length > 0)).toBe(true)
  dialect.reset()
  await env.advance(POLLS * 1000)
  expect(dialect.statements.length).toBeGreaterThan(0)
  expect(dialect.statements.length).toBeLessThanOrEqual(POLLS)
  for (const heard of streams) await heard.leave()
  await env.advance(3000)
  dialect.reset()
  await env.advance(POLLS * 1000)
  expect(dialect.statements).toStrictEqual([])
})
