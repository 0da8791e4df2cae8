// Storm — the time in which workers are killed and frozen and the place has its faults; and the calm after it, in which
// everything must come to its end.
//   T2. Only a worker that has begun to work is struck, and only while enough others do: every strike can hit a run, and runs
//       go on also where the machine is slow.
import { setTimeout as sleep } from 'node:timers/promises'
import { RowAudit, type Violation } from '../../../packages/durably/dist/testing/invariants/index.js'
import type { Crew, CrewFigures } from './crew.ts'
import type { Faults } from './faults.ts'
import type { Incidents } from './incidents.ts'
import { patiently } from './patiently.ts'
import type { Fault, Place } from './place.ts'
import type { Evidence } from './verdict.ts'
import type { People, Workload } from './workloads.ts'

/** Short enough to keep the rates also where timers are late. */
const STRIKE_EVERY_MS = 80
const PAUSE_LEASES: PauseLeases = [0.3, 3]

const ACT_EVERY_MS = 30
/** How many act at once: one that waits for an answer must not hold up the others. */
const ACTING = 3
const LOOK_EVERY_MS = 250
const LOOK_RUNS = 300
const JUDGE_EVERY_MS = 1000
const HEALED_EVERY_MS = 50
/** A busy machine takes its time; what has not ended by then never will. */
const HEAL_MS_MAX = 120_000

/** Rarer than for workers: outsiders execute no runs, so they can lose none. */
const STRIKES_ON_OUTSIDERS = 0.3
const STRIKES = ['kill', 'freeze', 'stop'] as const satisfies (keyof CrewFigures)[]

/** How long a worker is frozen, in leases: at least and at most. */
export type PauseLeases = readonly [min: number, max: number]

type Repeated = Pick<Fault, 'waitMs' | 'strike'>

export interface StormDeps {
  crew: Crew
  people: People
  place: Place
  faults: Faults
  incidents: Incidents
  evidence: Evidence
  judgeSoFar: Workload['judgeSoFar']
  seconds: number
  /** End as soon as a violation is seen. */
  untilCaught: boolean
  pauseLeases: PauseLeases | undefined
}

export class Storm {
  readonly #deps: StormDeps
  readonly audit = new RowAudit()
  readonly #over = new AbortController()
  #began = 0
  #caught: Violation[] = []

  constructor(deps: StormDeps) {
    this.#deps = deps
  }

  /** If a mutant is caught, the runs need not end. */
  async run(): Promise<{ stormMs: number; healMs: number; caught: Violation[] }> {
    const { seconds, crew, people, place, faults, untilCaught } = this.#deps
    await crew.recover()
    this.#began = performance.now()
    const end = setTimeout(() => this.#over.abort(), seconds * 1000)
    await Promise.all([
      ...Array.from({ length: ACTING }, () => this.#every(ACT_EVERY_MS * ACTING, () => people.act())),
      this.#every(STRIKE_EVERY_MS, async () => this.#strike()),
      this.#every(LOOK_EVERY_MS, () => this.#look()),
      untilCaught && this.#every(JUDGE_EVERY_MS, () => this.#judge()),
      ...place.faults.filter(({ name }) => faults.has(name)).map((fault) => this.#repeat(this.#noted(fault))),
    ])
    clearTimeout(end)
    const stormMs = performance.now() - this.#began
    place.calm()
    if (this.#caught.length > 0) return { stormMs, healMs: 0, caught: this.#caught }
    crew.calm()
    const healMs = await this.#heal()
    await crew.stop()
    return { stormMs, healMs, caught: [] }
  }

  /** About so often, never twice at once. */
  #every(ms: number, strike: () => Promise<void>): Promise<void> {
    return this.#repeat({ waitMs: () => ms * 2 * Math.random(), strike })
  }

  #noted({ name, waitMs, strike }: Fault): Repeated {
    return {
      waitMs,
      strike: () => {
        this.#deps.incidents.note(name, 'database')
        return strike()
      },
    }
  }

  async #repeat({ waitMs, strike }: Repeated): Promise<void> {
    for (;;) {
      await sleep(waitMs(), undefined, { signal: this.#over.signal }).catch(() => {})
      if (this.#over.signal.aborted) return
      await strike()
    }
  }

  /** The kind that is most behind its rate. */
  #strike(): void {
    const { crew, place, faults, pauseLeases = PAUSE_LEASES } = this.#deps
    const { awake, figures } = crew
    const victims = awake.filter(({ role }) => role === 'worker' || Math.random() < STRIKES_ON_OUTSIDERS)
    const victim = victims[Math.floor(Math.random() * victims.length)]
    if (!victim || awake.length <= crew.size / 3) return
    const elapsedS = (performance.now() - this.#began) / 1000
    const due = STRIKES.filter((strike) => faults.has(strike))
      .map((strike) => ({ strike, doneS: figures[strike] / place.strikesPerS[strike] }))
      .filter(({ strike, doneS }) => doneS < elapsedS && (strike !== 'freeze' || crew.paused < place.pausedMax))
      .toSorted((a, b) => a.doneS - b.doneS)
    switch (due[0]?.strike) {
      case 'kill':
        return crew.kill(victim)
      case 'stop':
        return crew.stopOne(victim)
      case 'freeze':
        return crew.freeze(victim, place.leaseMs * between(pauseLeases))
    }
  }

  async #look(): Promise<void> {
    const { place, faults } = this.#deps
    const runs = await patiently(() => place.store.runs.list({ limit: LOOK_RUNS }))
    // If the clock of a process may be wrong, a lease may be over at any time.
    this.audit.look(runs, [], clocksLie(place, faults) ? Number.POSITIVE_INFINITY : Date.now())
  }

  async #judge(): Promise<void> {
    const { judgeSoFar, evidence } = this.#deps
    this.#caught = await patiently(() => judgeSoFar(evidence))
    if (this.#caught.length > 0) this.#over.abort()
  }

  /** No more strikes: everything must come to its end. Answers how long that took. */
  async #heal(): Promise<number> {
    const { crew, place } = this.#deps
    const began = performance.now()
    await crew.recover()
    while (performance.now() - began < HEAL_MS_MAX) {
      if (await patiently(() => isAtRest(place))) break
      await sleep(HEALED_EVERY_MS)
    }
    return Math.round(performance.now() - began)
  }
}

/** Processes go by clocks of their own, and those are wrong. */
export function clocksLie({ clockIsOurs }: Place, faults: Faults): boolean {
  return clockIsOurs && (faults.has('skew') || faults.has('jump'))
}

/** In one read: of two, a run that was taken back in between would be missing in both. */
async function isAtRest({ store }: Place): Promise<boolean> {
  return (await store.runs.list({ statuses: ['pending', 'running'], limit: 1 })).length === 0
}

function between([min, max]: PauseLeases): number {
  return min + Math.random() * (max - min)
}
