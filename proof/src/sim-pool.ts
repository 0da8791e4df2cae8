// Spreads seeds over the machine's cores, in processes of their own.
import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { noFigures, type SeedsResult, type SeedsTask } from './sim-seeds.ts'

/** Small enough that all cores end at about the same time, large enough that starting a process does not count. */
const SEEDS_PER_PROCESS = 250

export async function simulateInPool(task: SeedsTask): Promise<SeedsResult> {
  const total: SeedsResult = {
    checked: 0,
    failures: [],
    faults: 0,
    figures: noFigures(),
  }
  const waiting = Array.from({ length: Math.ceil(task.seeds.length / SEEDS_PER_PROCESS) }, (_, i) =>
    task.seeds.slice(i * SEEDS_PER_PROCESS, (i + 1) * SEEDS_PER_PROCESS),
  )
  const work = async () => {
    for (let seeds = waiting.shift(); seeds; seeds = waiting.shift()) {
      if (task.untilFailure && total.failures.length > 0) return
      add(total, await inChild({ ...task, seeds }))
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  total.failures.sort((a, b) => a.seed - b.seed)
  return total
}

export function inChild(task: SeedsTask): Promise<SeedsResult> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL('./sim-worker.js', import.meta.url), { execArgv: ['--no-warnings'] })
    child.once('message', (result) => {
      child.disconnect()
      resolve(result as SeedsResult)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`a simulating process ended with ${code}`)))
    child.send(task)
  })
}

function add(total: SeedsResult, part: SeedsResult): void {
  total.checked += part.checked
  total.faults += part.faults
  total.failures.push(...part.failures)
  for (const name of Object.keys(part.figures) as (keyof SeedsResult['figures'])[]) total.figures[name] += part.figures[name]
}
