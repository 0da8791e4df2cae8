// A task queue: typed handlers, retries with a delay, dead tasks and their redrive. In memory; with a dialect it is durable.
import { retry } from '@coji/durably'
import { createTaskQueue, type TaskState } from '@coji/durably/tasks'
import { z } from 'zod'

const queue = createTaskQueue({
  concurrency: 2,
  retry: retry.exponential({ initial: '10ms' }),
  maxAttempts: 3,
  logger: (line) => line.event === 'Dead' && console.log(`${line.taskType} is dead after ${line.attempts} attempts: ${line.lastError}`),
})
let mailServerIsUp = false

const resize = queue.register({
  taskType: 'resize',
  input: z.object({ image: z.string(), width: z.number() }),
  execute({ image, width }, { attempt }) {
    if (attempt === 1) throw new Error('out of memory')
    console.log(`${image} is ${width} px wide now`)
  },
})

queue.register({
  taskType: 'send_email',
  input: z.object({ to: z.string() }),
  async execute({ to }) {
    if (!mailServerIsUp) throw new Error('mail server is down')
    console.log(`mail to ${to}`)
  },
})

/** Resolves when a task of this type has reached this state. */
function reached(taskType: string, state: TaskState): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = queue.on('stateChange', (change) => {
      if (change.taskType !== taskType || change.state !== state) return
      unsubscribe()
      resolve()
    })
  })
}

queue.start({ handleSignals: true })
const resized = reached('resize', 'Succeeded')
const { id } = await resize.enqueue({ image: 'cat.png', width: 64 })
await resized
console.log(`${(await queue.getStatus(id))?.attempts} attempt failed`)

const died = reached('send_email', 'Dead')
await queue.enqueue({ taskType: 'send_email', payload: { to: 'ada' } })
await died

mailServerIsUp = true
const sent = reached('send_email', 'Succeeded')
console.log(`${await queue.redriveAll()} task redriven`)
await sent

await queue.enqueue({ taskType: 'nobody knows it', payload: null })
const { Succeeded, Queued } = await queue.countsByState()
console.log(`${Succeeded} succeeded, ${Queued} queued`)
await queue.stop()
