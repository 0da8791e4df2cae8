// What it costs a process that others' runs are followed in it: counted in statements, for each notification that comes.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { postgres } from '../../src/postgres/index.ts'
import type { Change, NotifierDeps } from '../../src/store/notifier.ts'
import { countingDialect } from '../../src/testing/counting-dialect.ts'
import { temporaryDatabase } from './place.ts'

const RUNS = 10
const WORDS = 30
const FOLLOWERS = 4

test('a notification costs the followers of many runs a few reads together, not one each', async () => {
  const url = await temporaryDatabase()
  const worker = createDurably({ dialect: postgres(url), concurrency: RUNS, logger: false })
  onTestFinished(() => worker[Symbol.asyncDispose]())
  await worker.migrate()
  const job = worker.defineJob({ name: 'talk', input: z.unknown() }, (ctx) =>
    ctx.stream('talk', async (emit) => {
      for (let i = 0; i < WORDS; i++) {
        await emit(`${i} `)
        await pause(10)
      }
    }),
  )
  const { dialect, statements, messages } = counted(url)
  const api = createDurably({ dialect, logger: false })
  onTestFinished(() => api[Symbol.asyncDispose]())
  const runs = await job.batchTrigger(Array.from({ length: RUNS }, () => ({ payload: null })))
  const texts = runs.flatMap(({ id }) =>
    Array.from({ length: FOLLOWERS }, async () => {
      let text = ''
      for await (const event of api.subscribe(id))
        if (event.type === 'stream:chunk') text = text.slice(0, event.from) + event.chunks.join('')
      return text
    }),
  )
  worker.start()
  const whole = Array.from({ length: WORDS }, (_, i) => `${i} `).join('')
  expect(await Promise.all(texts)).toEqual(Array(RUNS * FOLLOWERS).fill(whole))
  await worker.stop()

  const lists = statements().filter((sql) => /run_events/.test(sql)).length
  const polls = statements().filter((sql) => /^SELECT r\.id, r\.last_event_sequence/.test(sql)).length
  // After each wake-up they read what is new, and then look once more before they wait; at the start and at the end as well.
  expect(lists).toBeLessThanOrEqual(2 * (messages() + polls) + 6)
  expect(lists).toBeGreaterThan(4)
})

/** Counts what is sent to the database, and the messages that come from other processes. */
function counted(url: string) {
  const inner = postgres(url)
  const counting = countingDialect(inner)
  let messages = 0
  let isSame = false
  const openNotifier = (deps: NotifierDeps) =>
    inner.openNotifier({
      ...deps,
      onChange(change: Change) {
        // The changes of one message come in one turn.
        if (!isSame) messages += 1
        isSame = true
        setImmediate(() => {
          isSame = false
        })
        deps.onChange(change)
      },
    })
  return {
    dialect: Object.assign(Object.create(counting), { openNotifier }),
    statements: () => counting.statements,
    messages: () => messages,
  }
}
