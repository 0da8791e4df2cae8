// StormCrew — the worker processes of a storm: starts, suspends and kills them, and knows what each has reported.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { REPO } from '../engine-build.ts'

/** The compiled file, also when the parent runs from its source. */
const WORKER = join(REPO, 'proof', 'dist', 'schedules', 'worker.js')
/** What a worker may report in a storm. */
const EXPECTED = ['started', 'leader_deposed', 'store_busy']
const REPORT_MS_MAX = 20_000

interface Member {
  child: ChildProcess
  codes: string[]
}

export class StormCrew {
  readonly #place: string
  readonly #ledger: string
  readonly #members = new Map<string, Member>()
  /** When a process was killed, by its id. */
  readonly killedAt = new Map<number, number>()
  readonly troubles: string[] = []
  /** Reports that the database was locked for too long: SQLite, while a process is suspended that holds the lock of the file. */
  busy = 0

  constructor(place: string, ledger: string) {
    this.#place = place
    this.#ledger = ledger
  }

  get names(): string[] {
    return [...this.#members.keys()]
  }

  start(name: string): void {
    const child = fork(WORKER, [this.#place, name, this.#ledger], { execArgv: ['--no-warnings'] })
    const member = { child, codes: [] as string[] }
    child.on('message', (code) => {
      member.codes.push(String(code))
      if (code === 'store_busy') this.busy++
      if (!EXPECTED.includes(String(code))) this.troubles.push(`${name}: ${code}`)
    })
    child.on('exit', (code, signal) => {
      if (!this.killedAt.has(child.pid ?? 0)) this.troubles.push(`${name} ended by itself: ${signal ?? code}`)
    })
    this.#members.set(name, member)
  }

  /** By a process of its own, so that a parent that dies leaves no suspended process. */
  async suspend(name: string, seconds: number): Promise<void> {
    const script = 'kill -STOP "$0"; sleep "$1"; kill -CONT "$0"'
    await once(spawn('sh', ['-c', script, `${this.#member(name).child.pid}`, `${seconds}`], { stdio: 'ignore' }), 'exit')
  }

  async kill(name: string): Promise<void> {
    const { child } = this.#member(name)
    this.#members.delete(name)
    this.killedAt.set(child.pid ?? 0, Date.now())
    child.kill('SIGKILL')
    await once(child, 'exit')
    this.killedAt.set(child.pid ?? 0, Date.now())
  }

  deposed(name: string): number {
    return this.#member(name).codes.filter((code) => code === 'leader_deposed').length
  }

  /** Whether a process has reported once more that it leads no more. */
  async reportsDeposed(name: string, before: number): Promise<boolean> {
    for (let waited = 0; waited < REPORT_MS_MAX && this.deposed(name) <= before; waited += 100) await sleep(100)
    return this.deposed(name) > before
  }

  async end(): Promise<void> {
    await Promise.all(this.names.map((name) => this.kill(name)))
  }

  #member(name: string): Member {
    const member = this.#members.get(name)
    if (!member) throw new Error(`there is no process ${JSON.stringify(name)}`)
    return member
  }
}
