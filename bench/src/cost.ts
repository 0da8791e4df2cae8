// Cost — what a piece of work takes, by the clock and by the processor. The second is what a busy machine does not disturb.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface Cost {
  wallMs: number
  /** Of all threads: the garbage collector's too. */
  cpuMs: number
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Starts from a clean heap, and waits for the clean-up: nobody pays for what another one left behind. */
export async function costOf(work: () => Promise<void>): Promise<Cost> {
  await heapBytes()
  const cpu = process.cpuUsage()
  const began = performance.now()
  await work()
  const wallMs = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  return { wallMs, cpuMs: (user + system) / 1000 }
}

/** What is alive. */
export async function heapBytes(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}
