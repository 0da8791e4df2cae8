// SIGINT and SIGTERM give the runs of a worker back, so that the next process goes on without waiting for their leases.
//   S1. Functions are asked to stop, and runs whose functions have ended are given back. If nothing else listens for the signal, the process then ends: runs
//       whose functions ignore their signal are given back as well, as the last thing, because those functions end with the process.
//   S2. If something else listens, it decides when the process ends, and a function that goes on keeps its lease.
//   S3. A second signal ends the process at once. Under `npm run`, Ctrl-C arrives twice, from the terminal and from npm, so a signal that
//       follows the first one at once is ignored.
import type { Engine } from '../engine.ts'
import { within } from '../model/env.ts'
import type { Attendance } from './attend.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

const SAME_SIGNAL_MS = 250
/** How long the releases may take to be written. */
const RELEASE_MS_MAX = 2000

/** Listeners of all instances; the last one that is done ends the process. */
const ours = new WeakSet<object>()

export function giveBackOnSignals(engine: Engine, { left, release }: Attendance): void {
  const { env } = engine
  let askedAt: number | null = null
  const remove = () => {
    for (const signal of SIGNALS) process.removeListener(signal, listener)
  }
  const listener = (signal: NodeJS.Signals) => {
    if (askedAt !== null) {
      if (env.mono() - askedAt > SAME_SIGNAL_MS) process.exit(exitCode(signal))
      return
    }
    askedAt = env.mono()
    const isOurs = process.listeners(signal).every((other) => ours.has(other))
    void giveBack().finally(() => {
      remove()
      if (isOurs && !process.listeners(signal).some((other) => ours.has(other))) process.exit(exitCode(signal))
    })
    async function giveBack(): Promise<void> {
      await release()
      if (isOurs) await giveBackRest(engine)
    }
  }
  ours.add(listener)
  // First, so that it also sees listeners that are called once.
  for (const signal of SIGNALS) process.prependListener(signal, listener)
  left.addEventListener('abort', remove)
}

async function giveBackRest({ env, worker: lazyWorker, changes }: Engine): Promise<void> {
  const worker = await lazyWorker.loaded()
  for (const execution of worker.executions()) execution.stopWaiting()
  await within(env, RELEASE_MS_MAX, worker.ended())
  await changes.flush()
}

/** As a shell reports it: 128 and the number of the signal. */
function exitCode(signal: NodeJS.Signals): number {
  return signal === 'SIGINT' ? 130 : 143
}
