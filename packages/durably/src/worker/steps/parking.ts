// Parking — gives back a run that waits: it holds no slot, and no process needs to live until it goes on.
//   K1. A run parks when no step is in flight: steps are awaited, and then the job has one turn of the event loop to start more.
//   K2. Everything it waits for is stored, and it goes on when the first of it is due.
//   K3. What is recorded is not waited for any more, so the list does not grow with the history of the run.
import { type Env, nextTurn } from '../../model/env.ts'
import type { RunRow } from '../../model/run.ts'
import { decodeWaits, encodeWaits, NEVER_MS, type Wait } from '../../model/wait.ts'

interface ParkingDeps {
  run: RunRow
  env: Env
  /** When the run was claimed, by the store's clock. */
  claimedAt: number
  /** Resolves when no step is in flight. */
  settled: () => Promise<void>
  isQuiet: () => boolean
  onParked: () => void
}

export class Parking {
  readonly #deps: ParkingDeps
  /** The waits of earlier executions and of this one, by name. One that is only put here is stored, but nobody waits for it. */
  readonly waits: Map<string, Wait>
  readonly #askedFor = new Set<string>()
  readonly #refusals: ((why: Error) => void)[] = []
  #refused: Error | null = null
  /** When this execution first asked to wait. */
  askedAt = Number.POSITIVE_INFINITY

  constructor(deps: ParkingDeps) {
    this.#deps = deps
    this.waits = new Map(decodeWaits(deps.run.waitingFor).map((wait) => [wait.name, wait]))
  }

  /** Whether what was waited for under this name is over; `undefined` when nothing was. */
  isOver(name: string): boolean | undefined {
    const wait = this.waits.get(name)
    return wait && dueOf(wait) <= this.#deps.claimedAt
  }

  /** Never resolves: when the run goes on, the job function is called again. */
  wait(wait: Wait): Promise<never> {
    if (this.#askedFor.size === 0) {
      this.askedAt = this.#deps.env.mono()
      void this.#park()
    }
    this.waits.set(wait.name, wait)
    this.#askedFor.add(wait.name)
    return new Promise((_, reject) => (this.#refused ? reject(this.#refused) : this.#refusals.push(reject)))
  }

  /** The execution must stop: rejects all waits, because a step in flight may wait for one of them and would never end. */
  refuse(why: Error): void {
    this.#refused = why
    for (const reject of this.#refusals.splice(0)) reject(why)
  }

  /** What this execution asked to wait for. */
  get asked(): string {
    return JSON.stringify([...this.#askedFor])
  }

  /** What to store. A wait that was asked for in this execution counts, even if it is due by now. */
  get ending(): { runAt: number; waitingFor: string; signals: number } {
    const { run, claimedAt } = this.#deps
    const waits = [...this.waits.values()]
    const ahead = waits.filter((wait) => this.#askedFor.has(wait.name) || dueOf(wait) > claimedAt).map(dueOf)
    return { runAt: Math.min(run.deadlineAt ?? NEVER_MS, NEVER_MS, ...ahead), waitingFor: encodeWaits(waits), signals: run.signals }
  }

  /** The part of `waitingFor` that stays valid without parking. */
  get remaining(): string {
    return encodeWaits([...this.waits.values()].flatMap(remainingOf))
  }

  async #park(): Promise<void> {
    const { env, settled, isQuiet, onParked } = this.#deps
    do {
      await settled()
      await nextTurn(env)
    } while (!isQuiet())
    onParked()
  }
}

/** The next execution asks for signals and children again; the time limit of a signal stays. */
function remainingOf(wait: Wait): Wait[] {
  switch (wait.kind) {
    case 'child':
      return []
    case 'signal':
      return wait.dueAt === null ? [] : [{ ...wait, kind: 'limit' }]
    default:
      return [wait]
  }
}

function dueOf({ dueAt }: Wait): number {
  return dueAt ?? NEVER_MS
}
