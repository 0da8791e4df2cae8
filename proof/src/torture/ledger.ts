// The effect ledger — what functions really did, told by their own processes, outside the database.
//   E1. A line is one synchronous write, done before the function goes on: a SIGKILL loses only what had not happened.
//   E2. Times are of the machine's monotonic clock, which all its processes share.
//   E3. What a killed process left open ended when it was killed; nobody else knows that time but the killer.
import { openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Acknowledged, Effect, JobExecution } from '../../../packages/durably/dist/testing/invariants/index.js'

type LedgerLine =
  | { type: 'job'; entry: number; runId: string; generation: number; at: number }
  | { type: 'step'; entry: number; runId: string; step: string; generation: number; at: number; toldToStop: boolean }
  | { type: 'exit'; entry: number; at: number; outcome: Effect['outcome'] }
  | { type: 'acknowledged'; promise: Acknowledged; value: unknown }
  | { type: 'trouble'; code: string }

/** The trouble of a call that neither succeeded nor failed. */
export const UNSETTLED = 'unsettled'

/** Milliseconds on a clock that all processes of this machine share. */
export function sharedClock(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

export class LedgerWriter {
  readonly #fd: number
  #entries = 0

  constructor(folder: string, process: string) {
    this.#fd = openSync(join(folder, process), 'a')
  }

  enterJob(runId: string, generation: number): number {
    const entry = this.#entries++
    this.#write({ type: 'job', entry, runId, generation, at: sharedClock() })
    return entry
  }

  enterStep(runId: string, step: string, generation: number, toldToStop: boolean): number {
    const entry = this.#entries++
    this.#write({ type: 'step', entry, runId, step, generation, at: sharedClock(), toldToStop })
    return entry
  }

  exit(entry: number, outcome: Effect['outcome']): void {
    this.#write({ type: 'exit', entry, at: sharedClock(), outcome })
  }

  /** A promise that this process was given; with the value that it saw, if any. */
  acknowledge(promise: Acknowledged, value: unknown = null): void {
    this.#write({ type: 'acknowledged', promise, value })
  }

  /** Something was told that is not a job's fault. */
  trouble(code: string): void {
    this.#write({ type: 'trouble', code })
  }

  #write(line: LedgerLine): void {
    writeSync(this.#fd, `${JSON.stringify(line)}\n`)
  }
}

export interface LedgerReading {
  executions: JobExecution[]
  effects: Effect[]
  acknowledged: Acknowledged[]
  /** What a process saw a step return. */
  seen: { runId: string; step: string; value: unknown }[]
  troubles: Map<string, number>
}

/** Reads all files of the folder; `diedAt` names the processes that were killed. */
export function readLedger(folder: string, diedAt: ReadonlyMap<string, number>): LedgerReading {
  const reading: LedgerReading = { executions: [], effects: [], acknowledged: [], seen: [], troubles: new Map() }
  for (const process of readdirSync(folder)) readFile(join(folder, process), diedAt.get(process) ?? null, reading)
  return reading
}

function readFile(file: string, diedAt: number | null, { executions, effects, acknowledged, seen, troubles }: LedgerReading): void {
  const open = new Map<number, JobExecution | Effect>()
  // After the last newline stands nothing, or the line that a kill cut off.
  for (const text of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
    const line = JSON.parse(text) as LedgerLine
    switch (line.type) {
      case 'job': {
        const execution = { runId: line.runId, generation: line.generation, startedAt: line.at, endedAt: diedAt }
        open.set(line.entry, execution)
        executions.push(execution)
        break
      }
      case 'step': {
        const { runId, step, generation, at, toldToStop } = line
        const effect: Effect = { runId, step, generation, startedAt: at, endedAt: diedAt, outcome: 'unfinished', toldToStop }
        open.set(line.entry, effect)
        effects.push(effect)
        break
      }
      case 'exit': {
        const entered = open.get(line.entry)
        if (entered) entered.endedAt = line.at
        if (entered && 'outcome' in entered) entered.outcome = line.outcome
        break
      }
      case 'acknowledged': {
        acknowledged.push(line.promise)
        if (line.promise.kind === 'step') seen.push({ runId: line.promise.runId, step: line.promise.step, value: line.value })
        break
      }
      case 'trouble':
        troubles.set(line.code, (troubles.get(line.code) ?? 0) + 1)
    }
  }
}
