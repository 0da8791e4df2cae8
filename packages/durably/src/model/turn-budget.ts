// TurnBudget — how long a worker may keep the event loop. A synchronous database driver finishes every await within the same turn, so a
// busy worker would starve timers and I/O: heartbeats, HTTP, shutdown. After a few milliseconds it yields.
import { type Env, nextTurn } from './env.ts'

const TURN_MS_MAX = 5

export class TurnBudget {
  readonly #env: Env
  #turnBegan: number

  constructor(env: Env) {
    this.#env = env
    this.#turnBegan = env.mono()
  }

  isUsedUp(now = this.#env.mono()): boolean {
    return now - this.#turnBegan >= TURN_MS_MAX
  }

  /** Resolves in a new turn of the event loop. */
  async yield(): Promise<void> {
    await nextTurn(this.#env)
    this.#turnBegan = this.#env.mono()
  }
}
