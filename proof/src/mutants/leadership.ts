// Guards taken out of which of several tabs executes.
import type { Mutant } from './mutant.ts'

export const LEADERSHIP_MUTANTS: Mutant[] = [
  {
    name: 'thief-inherits',
    guard: 'who stole the lead waits for leases (E2)',
    file: 'store/leader-lock.ts',
    find: 'this.#request({ steal: true }, () => NEVER)',
    replace: 'this.#request({ steal: true }, () => momentOf(this.#deps.env))',
  },
  {
    name: 'sleeper-inherits',
    guard: 'who stood still since it got the lead does not inherit (B3)',
    file: 'store/leader-lock.ts',
    find: 'return !this.#ended.signal.aborted && elapsedMs(',
    replace: 'return this.#awakeAt !== NEVER || elapsedMs(',
  },
  {
    name: 'leader-is-silent',
    guard: 'a leader says that it lives (B1)',
    file: 'store/leader-lock.ts',
    find: 'channel.postMessage(ALIVE)',
    replace: "channel.postMessage('')",
  },
  {
    name: 'frozen-leader-stays',
    guard: 'a leader that stands still is robbed of the lead (B2)',
    file: 'store/leader-lock.ts',
    find: 'if (env.mono() - this.#heardAt > 2 * leaseMs) return',
    replace: 'if (env.mono() - this.#heardAt > 200 * leaseMs) return',
  },
  {
    name: 'sleeper-robs',
    guard: 'who stood still itself robs nobody (B2)',
    file: 'store/leader-lock.ts',
    find: 'if (wasAsleep || !canWork) this.#heardAt = env.mono()',
    replace: 'if (!canWork) this.#heardAt = env.mono()',
  },
]
