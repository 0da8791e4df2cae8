// I74: no promise is rejected that nobody listens to. Node ends the process of a user for that.
import type { Violation } from '../../packages/durably/dist/testing/invariants/index.js'

const reasons: unknown[] = []
let isListening = false

/** From now on they do not end this process. The function that is returned answers those since it was asked last. */
export function unheardRejections(): () => Promise<Violation[]> {
  if (!isListening) process.on('unhandledRejection', (reason) => void reasons.push(reason))
  isListening = true
  return async () => {
    // Node tells of them between two turns of its event loop, which the simulated worlds do without.
    await new Promise((resolve) => setImmediate(resolve))
    return reasons.splice(0).map((reason) => ({ invariant: 'I74', runId: null, what: `nobody heard the rejection ${String(reason)}` }))
  }
}
