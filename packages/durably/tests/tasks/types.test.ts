import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createTaskQueue, type Queue, type TaskContext, type TaskHandler, type TaskRecord, type TaskState } from '../../src/tasks/index.ts'

test('a handler is typed by its schema; who enqueues through it, by what the schema takes', async () => {
  const queue = createTaskQueue()
  const input = z.object({ to: z.string(), tries: z.string().transform(Number) })
  const email = queue.register({
    taskType: 'send_email',
    input,
    execute(payload, context) {
      expectTypeOf(payload).toEqualTypeOf<{ to: string; tries: number }>()
      expectTypeOf(context).toEqualTypeOf<TaskContext>()
    },
  })
  expectTypeOf(email.enqueue).parameter(0).toEqualTypeOf<{ to: string; tries: string }>()
  expectTypeOf(await email.enqueue({ to: 'ada', tries: '3' })).toEqualTypeOf<TaskRecord>()
  // @ts-expect-error: the schema takes a string
  await email.enqueue({ to: 'ada', tries: 3 })
})

test('without a schema the payload is unknown, or what the handler says', () => {
  const queue = createTaskQueue()
  queue.register({
    taskType: 'any',
    execute(payload) {
      expectTypeOf(payload).toEqualTypeOf<unknown>()
    },
  })
  const resize = queue.register({ taskType: 'resize', execute: async (payload: { width: number }) => payload.width })
  expectTypeOf(resize.enqueue).parameter(0).toEqualTypeOf<{ width: number }>()
})

test('a class can be a handler, and keeps its `this`', async () => {
  class SendEmail implements TaskHandler<{ to: string }> {
    readonly taskType = 'send_email'
    readonly input = z.object({ to: z.string() })
    readonly sent: string[] = []
    execute({ to }: { to: string }): void {
      this.sent.push(to)
    }
  }
  const handler = new SendEmail()
  const queue: Queue = createTaskQueue()
  const task = queue.register(handler)
  expectTypeOf(task.enqueue).parameter(0).toEqualTypeOf<{ to: string }>()
  const done = new Promise<void>((resolve) => {
    queue.on('stateChange', ({ state }) => state === 'Succeeded' && resolve())
  })
  queue.start()
  await task.enqueue({ to: 'ada' })
  await done
  await queue.stop()
  expect(handler.sent).toEqual(['ada'])
})

test('states are words, and a change has what belongs to its state', () => {
  const queue = createTaskQueue()
  expectTypeOf<TaskState>().toEqualTypeOf<'Queued' | 'Running' | 'Succeeded' | 'RetryScheduled' | 'Dead' | 'Cancelled'>()
  expectTypeOf(queue.countsByState()).resolves.toEqualTypeOf<Record<TaskState, number>>()
  queue.on('stateChange', (change) => {
    if (change.state === 'RetryScheduled') expectTypeOf(change.nextRunAt).toEqualTypeOf<string>()
    if (change.state === 'Dead') expectTypeOf(change.attempts).toEqualTypeOf<number | undefined>()
  })
})
