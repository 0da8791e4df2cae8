// Crew — the processes of one torture: each that dies is replaced at once, under a new name.
import type { Faults } from './faults.ts'
import type { Incidents } from './incidents.ts'
import type { Place } from './place.ts'
import type { WorkerSetup } from './worker.ts'
import { WorkerProcess } from './worker-process.ts'

export interface CrewFigures {
  kill: number
  freeze: number
  stop: number
}

export interface CrewDeps {
  /** By seat. */
  roles: WorkerSetup['role'][]
  place: Place
  faults: Faults
  incidents: Incidents
  setup: Omit<WorkerSetup, 'name' | 'seat' | 'role' | 'address' | 'clock'>
}

/** After so many the torture gives up: every new worker would end in the same way. */
const FINDINGS_MAX = 20

export class Crew {
  readonly #deps: CrewDeps
  readonly #members = new Map<number, WorkerProcess>()
  /** When they ended, by name. */
  readonly diedAt = new Map<string, number>()
  /** What worker processes did that they never should, such as to end by themselves. */
  readonly findings: string[] = []
  readonly figures: CrewFigures = { kill: 0, freeze: 0, stop: 0 }
  #lives = 0
  #isCalm = false
  #disbanded = false

  constructor(deps: CrewDeps) {
    this.#deps = deps
    for (const seat of deps.roles.keys()) this.#hire(seat)
  }

  get size(): number {
    return this.#deps.roles.length
  }

  get awake(): WorkerProcess[] {
    return [...this.#members.values()].filter((member) => member.awake)
  }

  get paused(): number {
    return [...this.#members.values()].filter((member) => member.paused).length
  }

  kill(member: WorkerProcess): void {
    this.#struck('kill', member)
    member.kill()
  }

  stopOne(member: WorkerProcess): void {
    this.#struck('stop', member)
    member.terminate()
  }

  freeze(member: WorkerProcess, ms: number): void {
    this.#struck('freeze', member, { ms: Math.round(ms) })
    member.pause(ms)
  }

  /** All clocks are right from now on. */
  calm(): void {
    this.#isCalm = true
    this.#deps.incidents.note('calm', 'all')
    for (const member of this.#members.values()) member.send({ type: 'calm' })
  }

  /** Resolves when all work again and have handled every message. */
  async recover(): Promise<void> {
    for (;;) {
      const members = [...this.#members.values()]
      await Promise.all(members.map((member) => member.flushed()))
      if (members.every((member) => member.awake)) return
      if (this.findings.length >= FINDINGS_MAX) throw new Error(`workers keep ending by themselves: ${this.findings[0]}`)
    }
  }

  async stop(): Promise<void> {
    this.#disbanded = true
    await Promise.all([...this.#members.values()].map((member) => member.stop()))
  }

  /** At once, whatever they do. */
  killAll(): void {
    this.#disbanded = true
    for (const member of this.#members.values()) member.kill()
  }

  #struck(strike: keyof CrewFigures, { name }: WorkerProcess, details?: Record<string, unknown>): void {
    this.figures[strike]++
    this.#deps.incidents.note(strike, name, details)
  }

  #hire(seat: number): void {
    const { place, faults, incidents, setup, roles } = this.#deps
    const member = new WorkerProcess({
      ...setup,
      seat,
      role: roles[seat] ?? 'worker',
      address: place.address(),
      clock: { rangeMs: place.clockRangeMs, skews: !this.#isCalm && faults.has('skew'), jumps: !this.#isCalm && faults.has('jump') },
      name: `${roles[seat]}${seat}.${this.#lives++}`,
    })
    this.#members.set(seat, member)
    incidents.note('hire', member.name)
    void member.ended.then(() => {
      incidents.note('end', member.name)
      if (member.diedAt !== null) this.diedAt.set(member.name, member.diedAt)
      if (member.endedByItself) this.findings.push(`worker ${member.name} ${member.endedByItself}`)
      if (member.wouldNotStop) this.findings.push(`worker ${member.name} did not stop`)
      if (!this.#disbanded) this.#hire(seat)
    })
  }
}
