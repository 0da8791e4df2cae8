// Crew — the worker processes of one torture: each that dies is replaced at once, under a new name.
import type { Place } from './place.ts'
import type { WorkerSetup } from './worker.ts'
import { WorkerProcess } from './worker-process.ts'

export interface CrewFigures {
  kills: number
  pauses: number
}

/** More of them, and there is no crew to speak of. */
const FINDINGS_MAX = 20

export class Crew {
  readonly #place: Place
  readonly #setup: Omit<WorkerSetup, 'name' | 'address'>
  readonly #members = new Map<number, WorkerProcess>()
  /** When the killed ones died, by name. */
  readonly diedAt = new Map<string, number>()
  /** What no worker should ever do. */
  readonly findings: string[] = []
  readonly figures: CrewFigures = { kills: 0, pauses: 0 }
  #lives = 0
  #disbanded = false

  constructor(size: number, place: Place, setup: Omit<WorkerSetup, 'name' | 'address'>) {
    this.#place = place
    this.#setup = setup
    for (let seat = 0; seat < size; seat++) this.#hire(seat)
  }

  get awake(): WorkerProcess[] {
    return [...this.#members.values()].filter((member) => member.awake)
  }

  get paused(): number {
    return [...this.#members.values()].filter((member) => member.paused).length
  }

  kill(member: WorkerProcess): void {
    this.figures.kills++
    member.kill()
  }

  pause(member: WorkerProcess, ms: number): void {
    this.figures.pauses++
    member.pause(ms)
  }

  /** All work again, and have dealt with everything that they were told. */
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
    await Promise.all(
      [...this.#members.values()].map(async (member) => {
        if (!(await member.stop())) this.findings.push(`worker ${member.name} did not stop`)
      }),
    )
  }

  /** At once, whatever they do. */
  killAll(): void {
    this.#disbanded = true
    for (const member of this.#members.values()) member.kill()
  }

  #hire(seat: number): void {
    const member = new WorkerProcess({ ...this.#setup, address: this.#place.address(), name: `w${seat}.${this.#lives++}` })
    this.#members.set(seat, member)
    void member.ended.then(() => {
      if (member.diedAt !== null) this.diedAt.set(member.name, member.diedAt)
      if (member.endedByItself) this.findings.push(`worker ${member.name} ${member.endedByItself}`)
      if (!this.#disbanded) this.#hire(seat)
    })
  }
}
