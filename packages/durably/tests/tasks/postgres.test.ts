// The same program on Postgres: two processes' queues on one database, in real time.
import { expect, onTestFinished, test } from 'vitest'
import { retry } from '../../src/index.ts'
import { postgres } from '../../src/postgres/index.ts'
import { createTaskQueue } from '../../src/tasks/index.ts'
import { temporaryDatabase } from '../postgres/place.ts'

test('two queues share a database: retries, Dead, redrive, counts, purge', async () => {
  const url = await temporaryDatabase()
  let isBroken = true
  const executed: string[] = []
  const open = () => {
    const queue = createTaskQueue({ dialect: postgres(url), concurrency: 3, retry: retry.fixed({ maxAttempts: 3, delay: 30 }) })
    onTestFinished(() => queue[Symbol.asyncDispose]())
    queue.register({
      taskType: 'flaky',
      execute(payload, { attempt }) {
        executed.push(`${payload} ${attempt}`)
        if (isBroken) throw new Error('broken')
      },
    })
    return queue
  }
  const [first, second] = [open(), open()]
  await Promise.all([first.migrate(), second.migrate()])
  first.start()
  second.start()
  const tasks = await Promise.all(Array.from({ length: 10 }, (_, n) => first.enqueue({ taskType: 'flaky', payload: n })))
  const waiting = await first.enqueue({ taskType: 'unknown', payload: null })
  await expect.poll(() => second.countsByState(), { timeout: 10_000 }).toMatchObject({ Dead: 10, Queued: 1 })
  expect(executed.toSorted()).toEqual(tasks.flatMap((_, n) => [1, 2, 3].map((attempt) => `${n} ${attempt}`)).toSorted())
  expect(await second.getStatus(tasks[0]?.id ?? '')).toMatchObject({ state: 'Dead', attempts: 3, lastError: 'broken' })

  isBroken = false
  expect(await second.redriveAll()).toBe(10)
  await expect.poll(() => first.countsByState(), { timeout: 10_000 }).toMatchObject({ Succeeded: 10, Dead: 0 })
  expect(await first.cancel(waiting.id)).toBe('cancelled')
  expect(await first.purge({ olderThan: 0, state: 'Succeeded' })).toBe(10)
  expect((await second.list()).tasks).toMatchObject([{ id: waiting.id, state: 'Cancelled' }])
}, 60_000)

test('a scheduled retry is not started early by the clock of the server, and a stopped queue gives its task back', async () => {
  const queue = createTaskQueue({ dialect: postgres(await temporaryDatabase()), retry: retry.fixed({ maxAttempts: 2, delay: 300 }) })
  onTestFinished(() => queue[Symbol.asyncDispose]())
  await queue.migrate()
  const startedAt: number[] = []
  queue.register({
    taskType: 'fails, then waits',
    execute(_payload, { attempt, signal }) {
      startedAt.push(performance.now())
      if (attempt === 1) throw new Error('no')
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  queue.start()
  const { id } = await queue.enqueue({ taskType: 'fails, then waits', payload: null })
  await expect.poll(() => startedAt.length, { timeout: 10_000 }).toBe(2)
  const [one = 0, two = 0] = startedAt
  expect(two - one).toBeGreaterThanOrEqual(299)
  await queue.stop({ timeout: 0 })
  expect(await queue.getStatus(id)).toMatchObject({ state: 'Queued', attempts: 1, lastError: 'no' })
}, 60_000)
