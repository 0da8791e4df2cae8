// The effect ledger — what functions really did, reported by their own processes, outside the database.
//   E1. A line is one synchronous write, done before the function goes on: a SIGKILL loses only what had not happened.
//   E2. Times are of the machine's monotonic clock, which all its processes share.
//   E3. What a killed process left open ended when it was killed; nobody else knows that time but the killer.
//   E4. On request, each line about an effect is on disk before the function goes on.
import { fsyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Acknowledged, Effect, JobExecution } from '../../../packages/durably/dist/testing/invariants/index.js'

type LedgerLine =
  | { type: 'job'; entry: number; runId: string; generation: number; at: number }
  | ({ type: 'step'; entry: number; at: number } & EnteredStep)
  | { type: 'exit'; entry: number; at: number; outcome: Effect['outcome'] }
  | { type: 'acknowledged'; at: number; promise: Acknowledged; value: unknown }
  | { type: 'note'; at: number; note: unknown }
  | { type: 'trouble'; code: string }

/** What is known of a step's function when it begins. */
interface EnteredStep {
  runId: string
  step: string
  /** 0 if it was not reported. */
  generation: number
  wasAborted: boolean
  once?: boolean
  /** The entry of the job function that called it. */
  execution?: number
  /** For so long this process had done nothing before. */
  stillMs?: number
}

/** The trouble of a worker that was stopped while a suspended process held the lock, or the server was away: its last log lines may be lost. */
export const LATE_LOG_LINES = 'log_lines_late'
/** The trouble of a call that neither succeeded nor failed. */
export const UNSETTLED = 'unsettled'

/** Milliseconds on a clock that all processes of this machine share. */
export function sharedClock(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

export class LedgerWriter {
  readonly #fd: number
  readonly #flushes: boolean
  #entries = 0

  constructor(folder: string, process: string, { flushes = false } = {}) {
    this.#fd = openSync(join(folder, process), 'a')
    this.#flushes = flushes
  }

  enterJob(runId: string, generation: number): number {
    const entry = this.#entries++
    this.#write({ type: 'job', entry, runId, generation, at: sharedClock() })
    return entry
  }

  enterStep(entered: EnteredStep): number {
    const entry = this.#entries++
    this.#write({ type: 'step', entry, at: sharedClock(), ...entered }, true)
    return entry
  }

  exit(entry: number, outcome: Effect['outcome']): void {
    this.#write({ type: 'exit', entry, at: sharedClock(), outcome }, true)
  }

  /** A promise that this process was given; with the value that it saw, if any. */
  acknowledge(promise: Acknowledged, value: unknown = null): void {
    this.#write({ type: 'acknowledged', at: sharedClock(), promise, value })
  }

  /** What only the workload understands. */
  note(note: unknown, { isEffect = false } = {}): void {
    this.#write({ type: 'note', at: sharedClock(), note }, isEffect)
  }

  /** A worker reported an error that is not a job's fault. */
  trouble(code: string): void {
    this.#write({ type: 'trouble', code })
  }

  #write(line: LedgerLine, isEffect = false): void {
    writeSync(this.#fd, `${JSON.stringify(line)}\n`)
    if (this.#flushes && isEffect) fsyncSync(this.#fd)
  }
}

/** An effect, and the process that called it. */
export interface NotedEffect extends Effect {
  process: string
  execution: JobExecution | null
  stillMs: number
}

export interface Noted {
  at: number
  process: string
  note: unknown
}

export interface LedgerReading {
  executions: JobExecution[]
  effects: NotedEffect[]
  acknowledged: Acknowledged[]
  /** What a process saw a step return. */
  seen: { runId: string; step: string; value: unknown; at: number }[]
  /** Those of one process in its order. */
  notes: Noted[]
  troubles: Map<string, number>
}

/** Reads all files of the folder; `diedAt` names the processes that have ended. Of what is still written, what came before `until` is whole. */
export function readLedger(folder: string, diedAt: ReadonlyMap<string, number>, until = Number.POSITIVE_INFINITY): LedgerReading {
  const reading: LedgerReading = { executions: [], effects: [], acknowledged: [], seen: [], notes: [], troubles: new Map() }
  for (const process of readdirSync(folder)) readProcess(folder, process, { diedAt: diedAt.get(process) ?? null, until }, reading)
  return reading
}

/** The first note that `isIt` knows, in any file, while the processes go on writing. */
export function findNote<T>(folder: string, mark: string, isIt: (note: unknown) => note is T): T | null {
  for (const process of readdirSync(folder)) {
    for (const text of linesOf(folder, process)) {
      if (!text.includes(mark)) continue
      const line = JSON.parse(text) as LedgerLine
      if (line.type === 'note' && isIt(line.note)) return line.note
    }
  }
  return null
}

/** After the last newline stands nothing, or the line that a kill cut off. */
function linesOf(folder: string, process: string): string[] {
  return readFileSync(join(folder, process), 'utf8').split('\n').slice(0, -1)
}

interface Times {
  diedAt: number | null
  until: number
}

function readProcess(folder: string, process: string, { diedAt, until }: Times, reading: LedgerReading): void {
  const { executions, effects, acknowledged, seen, notes, troubles } = reading
  const open = new Map<number, JobExecution | NotedEffect>()
  for (const text of linesOf(folder, process)) {
    const line = JSON.parse(text) as LedgerLine
    if ('at' in line && line.at > until) return
    switch (line.type) {
      case 'job': {
        const execution = { runId: line.runId, generation: line.generation, startedAt: line.at, endedAt: diedAt }
        open.set(line.entry, execution)
        executions.push(execution)
        break
      }
      case 'step': {
        const { type: _, entry, at: startedAt, execution = -1, stillMs = 0, ...entered } = line
        const caller = open.get(execution) ?? null
        const effect: NotedEffect = { ...entered, process, startedAt, endedAt: diedAt, outcome: 'unfinished', execution: caller, stillMs }
        open.set(entry, effect)
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
        const { promise, value, at } = line
        acknowledged.push(promise)
        if (promise.kind === 'step') seen.push({ runId: promise.runId, step: promise.step, value, at })
        break
      }
      case 'note':
        notes.push({ at: line.at, process, note: line.note })
        break
      case 'trouble':
        troubles.set(line.code, (troubles.get(line.code) ?? 0) + 1)
    }
  }
}
