// Mutants without a guard in the choice of the tab that executes runs.
import type { Mutant } from './mutant.ts'

export const LEADERSHIP_MUTANTS: Mutant[] = [
  {
    name: 'thief-reaps',
    guard: 'a leader that stole the lead waits until leases are over (E2)',
    file: 'store/leader-lock.ts',
    find: 'this.#request({ steal: true }, () => NEVER)',
    replace: 'this.#request({ steal: true }, () => momentOf(this.#deps.env))',
  },
  {
    name: 'frozen-leader-reaps',
    guard: 'a leader that was frozen since it got the lead reaps no leases that are not over (B3)',
    file: 'store/leader-lock.ts',
    find: 'return !this.#ended.signal.aborted && elapsedMs(',
    replace: 'return this.#awakeAt !== NEVER || elapsedMs(',
  },
  {
    name: 'inherits-beside-a-frozen-leader',
    guard: 'a leader reaps no leases that are not over while a tab from which the lead was stolen may still execute (B5)',
    file: 'store/leader-lock.ts',
    find: 'this.#isAlone = free !== null',
    replace: 'this.#isAlone = true',
  },
  {
    name: 'reaps-on-after-its-term',
    guard: 'a leader that lost the lead between two reaps takes no more runs back that it had found',
    file: 'worker/loop/reap.ts',
    find: 'while (mayReap()) {',
    replace: 'while (mayReap() || total > 0) {',
  },
  {
    name: 'no-leader-heartbeat',
    guard: 'a leader sends heartbeats (B1)',
    file: 'store/leader-lock.ts',
    find: 'channel.postMessage(ALIVE)',
    replace: "channel.postMessage('')",
  },
  {
    name: 'frozen-leader-stays',
    guard: 'the lead is stolen from a leader that is frozen (B2)',
    file: 'store/leader-lock.ts',
    find: 'const isSilent = env.mono() - this.#lastBeatAt > 2 * leaseMs',
    replace: 'const isSilent = env.mono() - this.#lastBeatAt > 200 * leaseMs',
  },
  {
    name: 'frozen-tab-steals',
    guard: 'a tab that was frozen itself does not steal the lead (B2)',
    file: 'store/leader-lock.ts',
    find: 'if (wasAsleep || !canWork) this.#lastBeatAt = env.mono()',
    replace: 'if (!canWork) this.#lastBeatAt = env.mono()',
  },
  {
    name: 'briefly-frozen-tab-steals',
    guard: 'a tab that was frozen between two looks, for less than a lease, does not steal the lead from the next leader (B2)',
    file: 'store/leader-lock.ts',
    find: 'this.#lookedAt.mono > 2 * beatMs(leaseMs)',
    replace: 'this.#lookedAt.mono > leaseMs',
  },
]
