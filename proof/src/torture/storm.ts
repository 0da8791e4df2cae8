// Storm — the time in which workers are killed and frozen and the place has its faults; and the calm after it, in which
// everything must come to its end.
//   T2. Only a worker that has begun to work is struck, and only while enough others do: every strike can hit a run, and runs
//       go on also where the machine is slow.
import { setTimeout as sleep } from 'node:timers/promises'
import { RowAudit } from '../../../packages/durably/dist/testing/invariants/index.js'
import type { Client } from './client.ts'
import type { Crew } from './crew.ts'
import { patiently } from './patiently.ts'
import type { Fault, Place } from './place.ts'
import { type Evidence, judgeSoFar } from './verdict.ts'

/** Short enough to keep the rates also where timers are late. */
const STRIKE_EVERY_MS = 80
const PAUSE_LEASES_MIN = 0.3
const PAUSE_LEASES_MAX = 3

const ACT_EVERY_MS = 30
/** At once: one who waits for an answer must not keep all others. */
const ACTING = 3
const LOOK_EVERY_MS = 250
const LOOK_RUNS = 300
const JUDGE_EVERY_MS = 1000
const HEALED_EVERY_MS = 50
const HEAL_MS_MAX = 60_000

export interface StormParts {
  crew: Crew
  client: Client
  place: Place
  evidence: Evidence
  workers: number
  seconds: number
  /** End as soon as a violation is seen. */
  untilCaught: boolean
}

export class Storm {
  readonly #parts: StormParts
  readonly audit = new RowAudit()
  readonly #over = new AbortController()
  #began = 0

  constructor(parts: StormParts) {
    this.#parts = parts
  }

  async run(): Promise<{ stormMs: number; healMs: number }> {
    const { seconds, crew, client, place, untilCaught } = this.#parts
    await crew.recover()
    this.#began = performance.now()
    const end = setTimeout(() => this.#over.abort(), seconds * 1000)
    await Promise.all([
      ...Array.from({ length: ACTING }, () => this.#every(ACT_EVERY_MS * ACTING, () => client.act())),
      this.#every(STRIKE_EVERY_MS, async () => this.#strike()),
      this.#every(LOOK_EVERY_MS, () => this.#look()),
      untilCaught && this.#every(JUDGE_EVERY_MS, () => this.#judge()),
      ...place.faults.map((fault) => this.#repeat(fault)),
    ])
    clearTimeout(end)
    const stormMs = performance.now() - this.#began
    place.calm()
    const healMs = await this.#heal()
    await crew.stop()
    return { stormMs, healMs }
  }

  /** About so often, never twice at once. */
  #every(ms: number, strike: () => Promise<void>): Promise<void> {
    return this.#repeat({ waitMs: () => ms * 2 * Math.random(), strike })
  }

  async #repeat({ waitMs, strike }: Fault): Promise<void> {
    for (;;) {
      await sleep(waitMs(), undefined, { signal: this.#over.signal }).catch(() => {})
      if (this.#over.signal.aborted) return
      await strike()
    }
  }

  #strike(): void {
    const { crew, place, workers } = this.#parts
    const { awake, figures } = crew
    const victim = awake[Math.floor(Math.random() * awake.length)]
    if (!victim || awake.length <= workers / 3) return
    const elapsedS = (performance.now() - this.#began) / 1000
    const killsDone = figures.kills / place.killsPerS
    const pausesDone = figures.pauses / place.pausesPerS
    if (Math.min(killsDone, pausesDone) >= elapsedS) return
    if (killsDone <= pausesDone) crew.kill(victim)
    else if (crew.paused < place.pausedMax) crew.pause(victim, pauseMs(place.leaseMs))
  }

  async #look(): Promise<void> {
    const runs = await patiently(() => this.#parts.place.store.runs.list({ limit: LOOK_RUNS }))
    this.audit.look(runs, [], Date.now())
  }

  async #judge(): Promise<void> {
    if ((await patiently(() => judgeSoFar(this.#parts.evidence))).length > 0) this.#over.abort()
  }

  /** No more strikes: everything must come to its end. Answers how long that took. */
  async #heal(): Promise<number> {
    const { crew, place } = this.#parts
    const began = performance.now()
    await crew.recover()
    while (performance.now() - began < HEAL_MS_MAX) {
      if (await patiently(() => isAtRest(place))) break
      await sleep(HEALED_EVERY_MS)
    }
    return Math.round(performance.now() - began)
  }
}

async function isAtRest({ store }: Place): Promise<boolean> {
  const open = [...(await store.runs.list({ status: 'pending', limit: 1 })), ...(await store.runs.list({ status: 'running', limit: 1 }))]
  return open.length === 0
}

function pauseMs(leaseMs: number): number {
  return leaseMs * (PAUSE_LEASES_MIN + Math.random() * (PAUSE_LEASES_MAX - PAUSE_LEASES_MIN))
}
