// How fast the task queue is in memory, against queues that keep nothing: tasks that do nothing, tasks that fail once, tasks that
// are due later, and whether the memory stays flat. They take turns within a round; the medians of the rounds count.
import { type Cost, costOf, heapBytes } from './cost.ts'
import { installPeers } from './speed/peers.ts'
import { median } from './summary.ts'
import { type MemoryQueue, memoryQueues, OURS, type Task } from './task-queue/contenders.ts'
import { CountedQueue, FINISHED_MAX } from './task-queue/counted-queue.ts'

const [rounds = '5', tasks = '100000'] = process.argv.slice(2)
const ROUNDS = Number(rounds)
const TASKS = Number(tasks)

installPeers()
const QUEUES = await memoryQueues()

interface Race {
  title: string
  concurrency: number
  executions: 1 | 2
}

const RACES: readonly Race[] = [
  { title: 'tasks that do nothing', concurrency: 1, executions: 1 },
  { title: 'tasks that do nothing', concurrency: 10, executions: 1 },
  { title: 'tasks that do nothing', concurrency: 100, executions: 1 },
  { title: 'tasks that fail once', concurrency: 1, executions: 2 },
  { title: 'tasks that fail once', concurrency: 10, executions: 2 },
  { title: 'tasks that fail once', concurrency: 100, executions: 2 },
]

/** A figure counts only if each task was executed exactly as often as it should. */
async function lap({ name, run, runWithRetry }: MemoryQueue, { concurrency, executions }: Race, count: number): Promise<Cost> {
  const executed = new Uint8Array(count)
  const execute = (i: number) => {
    const times = (executed[i] ?? 0) + 1
    executed[i] = times
    return times
  }
  const doesNothing: Task = async (i) => void execute(i)
  const failsOnce: Task = async (i) => {
    if (execute(i) === 1) throw new Error('fails once')
  }
  const cost = await costOf(() => (executions === 1 ? run(count, concurrency, doesNothing) : runWithRetry(count, concurrency, failsOnce)))
  if (!executed.every((times) => times === executions)) throw new Error(`${name}: not every task was executed ${executions} times`)
  return cost
}

async function race(race: Race): Promise<void> {
  const costs = new Map<string, Cost[]>(QUEUES.map(({ name }) => [name, []]))
  for (const queue of QUEUES) await lap(queue, race, TASKS / 5)
  for (let round = 0; round < ROUNDS; round++) for (const queue of QUEUES) costs.get(queue.name)?.push(await lap(queue, race, TASKS))
  const ours = costs.get(OURS) ?? []
  console.log(`\n${TASKS} ${race.title}, ${race.concurrency} at once, median of ${ROUNDS} rounds`)
  for (const [name, laps] of costs) {
    const perTask = median(laps.map(({ cpuMs }) => cpuMs)) / TASKS
    const wall = median(laps.map(({ wallMs }) => wallMs)) / TASKS
    const ratio = (of: keyof Cost) => median(laps.map((lap, i) => lap[of] / (ours[i]?.[of] ?? Number.NaN))).toFixed(2)
    const ratios = name === OURS ? '' : `   ours runs at ${ratio('cpuMs')} × (CPU), ${ratio('wallMs')} × (clock)`
    console.log(
      `  ${name.padEnd(18)} ${(perTask * 1000).toFixed(2).padStart(6)} µs CPU, ${(wall * 1000).toFixed(2).padStart(6)} µs a task${ratios}`,
    )
  }
}

async function memory(): Promise<void> {
  console.log(`\nmemory of a queue that keeps ${FINISHED_MAX} finished tasks`)
  const queue = new CountedQueue(10, async () => {})
  for (let total = 0; total < 4 * TASKS; ) {
    await queue.execute(TASKS / 10)
    await queue.check()
    total += TASKS / 10
    if ([0.1, 1, 2, 4].some((times) => total === times * TASKS))
      console.log(`  after ${String(total).padStart(7)} tasks  ${((await heapBytes()) / 2 ** 20).toFixed(1)} MiB`)
  }
}

/** As many in a second, however many there are: else the few would wake the worker one by one, the many in crowds. */
const DUE_EVERY_MS = 0.04

async function scheduled(): Promise<void> {
  console.log(`\ntasks that are due at random times, one every ${DUE_EVERY_MS} ms on average, 10 at once, median of ${ROUNDS} rounds`)
  await scheduledLap(TASKS / 10)
  for (const count of [TASKS / 10, TASKS]) {
    const costs: Cost[] = []
    for (let round = 0; round < ROUNDS; round++) costs.push(await scheduledLap(count))
    const cpuMs = median(costs.map(({ cpuMs }) => cpuMs))
    console.log(`  ${String(count).padStart(7)} tasks  ${((cpuMs / count) * 1000).toFixed(2)} µs CPU a task`)
  }
}

async function scheduledLap(count: number): Promise<Cost> {
  const began = Date.now()
  const due = Float64Array.from({ length: count }, () => began + Math.floor(Math.random() * count * DUE_EVERY_MS))
  let early = 0
  const queue = new CountedQueue(10, async (i) => void (Date.now() < (due[i] ?? 0) && early++))
  const cost = await costOf(() => queue.execute(count, (i) => ({ runAt: due[i] ?? 0 })))
  await queue.check()
  if (early > 0) throw new Error(`${early} tasks were executed before they were due`)
  return cost
}

for (const one of RACES) await race(one)
await memory()
await scheduled()
