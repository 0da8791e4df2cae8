// Spreads seeds over the machine's cores, in processes of their own. Each goes on to the end: code that has run a thousand worlds
// is twice as fast as code that has run a hundred.
import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { loadWorldKinds } from './engine-build.ts'
import { noFigures, type SeedsResult, type SeedsTask } from './sim-seeds.ts'

/** Small enough that all cores end at about the same time. */
const SEEDS_PER_TASK = 100

/**
 * Each core has a process of its own, so threads that help to collect garbage only take time from the others. A world leaves much garbage
 * and is then gone as a whole: in a large young generation most of it is never copied. Code that a few worlds did not need is kept with all
 * that was learned about it: the next one does.
 */
const YOUNG_GENERATION = ['--min-semi-space-size=16', '--max-semi-space-size=64']
const NODE_OPTIONS = ['--no-warnings', '--single-threaded-gc', ...YOUNG_GENERATION, '--no-flush-bytecode']

export async function simulateInPool(task: SeedsTask): Promise<SeedsResult & { worlds: number }> {
  const kinds = await loadWorldKinds(task.dist)
  const total = {
    checked: 0,
    worlds: 0,
    failures: [] as SeedsResult['failures'],
    faults: 0,
    figures: noFigures(),
  }
  const seeds = slowingLast(kinds, task.seeds)
  const waiting = Array.from({ length: Math.ceil(seeds.length / SEEDS_PER_TASK) }, (_, i) =>
    seeds.slice(i * SEEDS_PER_TASK, (i + 1) * SEEDS_PER_TASK),
  )
  const work = async () => {
    const simulator = new SimulatingProcess()
    try {
      for (let seeds = waiting.shift(); seeds; seeds = waiting.shift()) {
        if (task.untilFailure && total.failures.length > 0) return
        add(total, await simulator.simulate({ ...task, seeds }))
        for (const seed of seeds) total.worlds += worldsOf(kinds, seed)
      }
    } finally {
      simulator.end()
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), waiting.length) }, work))
  total.failures.sort((a, b) => a.seed - b.seed)
  return total
}

type WorldKinds = Awaited<ReturnType<typeof loadWorldKinds>>

/** Beside the world of a seed there may be up to three others. */
function worldsOf({ hasFleet, hasSchedules, hasInbox }: WorldKinds, seed: number): number {
  return 1 + [hasFleet, hasSchedules, hasInbox].filter((has) => has(seed)).length
}

/** Once a process has entered an async scope, all its promises are slower on Node 20, also when it has left it: so these worlds come last. */
function slowingLast({ hasScopes, hasFleet, fleetSeed }: WorldKinds, seeds: readonly number[]): number[] {
  const isSlowing = (seed: number) => hasScopes(seed) || (hasFleet(seed) && hasScopes(fleetSeed(seed)))
  return [...seeds.filter((seed) => !isSlowing(seed)), ...seeds.filter(isSlowing)]
}

export class SimulatingProcess {
  readonly #child: ChildProcess = fork(new URL('./sim-worker.js', import.meta.url), { execArgv: NODE_OPTIONS })

  /** One task at a time. */
  simulate(task: SeedsTask): Promise<SeedsResult> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`a simulating process ended with ${code}`))
      this.#child.once('error', reject)
      this.#child.once('exit', ended)
      this.#child.once('message', (result) => {
        this.#child.off('error', reject)
        this.#child.off('exit', ended)
        resolve(result as SeedsResult)
      })
      this.#child.send(task)
    })
  }

  end(): void {
    if (this.#child.connected) this.#child.disconnect()
  }
}

function add(total: SeedsResult, part: SeedsResult): void {
  total.checked += part.checked
  total.faults += part.faults
  total.failures.push(...part.failures)
  for (const name of Object.keys(part.figures) as (keyof SeedsResult['figures'])[]) total.figures[name] += part.figures[name]
}
