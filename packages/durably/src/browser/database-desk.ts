// DatabaseDesk — lets everybody at the one connection, a call at a time, in the order they came.
//   T1. While a transaction is open only its line is served.
//   T2. A transaction ends with its turn: when its line begins another, leaves, or is silent for too long, it is rolled back.
//   T3. What comes late for a turn that was rolled back is refused: alone it would take effect without the rest.
import type { Env, TimerHandle } from '../model/env.ts'
import { type Answer, BYE, type Call, type Line, type Result, type Statement } from './messages.ts'
import type { WasmDatabase } from './wasm-database.ts'

/** Between two statements of a transaction; a tab may be frozen in the middle of one. */
const SILENCE_MS_MAX = 10_000

const BEGIN: Statement = { sql: 'BEGIN IMMEDIATE', parameters: [] }
const COMMIT: Statement = { sql: 'COMMIT', parameters: [] }
const ROLLBACK: Statement = { sql: 'ROLLBACK', parameters: [] }

interface Waiting {
  line: Line
  call: Call
}

interface Holder {
  line: Line
  turn: number
  timer: TimerHandle
}

export class DatabaseDesk {
  readonly #database: WasmDatabase
  readonly #env: Env
  /** By line: the last turn whose transaction was rolled back before its end. */
  readonly #lines = new Map<Line, number>()
  #queue: Waiting[] = []
  #holder: Holder | null = null

  constructor(database: WasmDatabase, env: Env) {
    this.#database = database
    this.#env = env
  }

  serve(line: Line, onLeave: () => void = () => {}): void {
    this.#lines.set(line, -1)
    line.onmessage = ({ data }) => {
      if (data === BYE) {
        this.leave(line)
        return onLeave()
      }
      if (!this.#lines.has(line)) return
      this.#queue.push({ line, call: data as Call })
      this.#work()
    }
  }

  leave(line: Line): void {
    line.close()
    this.#lines.delete(line)
    this.#queue = this.#queue.filter((waiting) => waiting.line !== line)
    if (this.#holder?.line === line) this.#rollBack()
    this.#work()
  }

  /** What was not answered by now is not done. */
  close(): void {
    for (const line of this.#lines.keys()) line.postMessage(BYE)
    this.#queue = []
    this.#rollBack()
    this.#lines.clear()
  }

  #work(): void {
    for (let next = this.#next(); next; next = this.#next()) this.#serve(next)
  }

  #next(): Waiting | undefined {
    const line = this.#holder?.line
    if (!line) return this.#queue.shift()
    const found = this.#queue.findIndex((waiting) => waiting.line === line)
    return found < 0 ? undefined : this.#queue.splice(found, 1)[0]
  }

  #serve({ line, call }: Waiting): void {
    if (this.#holder && this.#holder.turn !== call.turn) this.#rollBack()
    line.postMessage(this.#answer(line, call))
    this.#hold(line, call.turn)
  }

  #answer(line: Line, { call, turn, statements, atomic }: Call): Answer {
    if (this.#lines.get(line) === turn)
      return { call, error: `the transaction was rolled back: nothing was heard of it for ${SILENCE_MS_MAX} ms` }
    try {
      return { call, results: atomic ? this.#transact(statements) : this.#run(statements) }
    } catch (error) {
      return { call, error: error instanceof Error ? error.message : String(error) }
    }
  }

  #transact(statements: readonly Statement[]): Result[] {
    this.#database.run(BEGIN)
    try {
      const results = this.#run(statements)
      this.#database.run(COMMIT)
      return results
    } catch (error) {
      this.#undo()
      throw error
    }
  }

  #run(statements: readonly Statement[]): Result[] {
    return statements.map((statement) => this.#database.run(statement))
  }

  #hold(line: Line, turn: number): void {
    if (this.#holder) this.#env.clear(this.#holder.timer)
    this.#holder = this.#database.inTransaction ? { line, turn, timer: this.#env.timer(SILENCE_MS_MAX, () => this.#tooLong()) } : null
  }

  #tooLong(): void {
    this.#rollBack()
    this.#work()
  }

  #rollBack(): void {
    if (!this.#holder) return
    const { line, turn, timer } = this.#holder
    this.#env.clear(timer)
    this.#holder = null
    if (this.#lines.has(line)) this.#lines.set(line, turn)
    this.#undo()
  }

  /** A full disk has rolled back by itself. */
  #undo(): void {
    if (this.#database.inTransaction) this.#database.run(ROLLBACK)
  }
}
