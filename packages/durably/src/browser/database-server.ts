// DatabaseServer — serves the calls of all tabs on the one connection, one at a time, in the order in which they arrive.
//   T1. While a transaction is open, only the channel that began it is served.
//   T2. An open transaction is rolled back when its turn is over: its channel begins another turn, leaves, or is silent for too long.
//   T3. A call for a turn that was rolled back is refused: it would take effect without the statements before it.
import type { Env, TimerHandle } from '../model/env.ts'
import { type Answer, BYE, type Call, type Channel, type Result, type Statement } from './protocol.ts'
import type { WasmDatabase } from './wasm-database.ts'

/** The longest pause between two statements of a transaction: a tab may be frozen in the middle of one. */
const SILENCE_MS_MAX = 10_000

const BEGIN: Statement = { sql: 'BEGIN IMMEDIATE', parameters: [] }
const COMMIT: Statement = { sql: 'COMMIT', parameters: [] }
const ROLLBACK: Statement = { sql: 'ROLLBACK', parameters: [] }

interface Waiting {
  channel: Channel
  call: Call
}

interface Holder {
  channel: Channel
  turn: number
  timer: TimerHandle
}

export class DatabaseServer {
  readonly #database: WasmDatabase
  readonly #env: Env
  /** The last turn of each channel whose transaction was rolled back before its end; -1 for none. */
  readonly #channels = new Map<Channel, number>()
  #queue: Waiting[] = []
  #holder: Holder | null = null

  constructor(database: WasmDatabase, env: Env) {
    this.#database = database
    this.#env = env
  }

  serve(channel: Channel, onLeave: () => void = () => {}): void {
    this.#channels.set(channel, -1)
    channel.onmessage = ({ data }) => {
      if (data === BYE) {
        this.leave(channel)
        return onLeave()
      }
      if (!this.#channels.has(channel)) return
      this.#queue.push({ channel, call: data as Call })
      this.#work()
    }
  }

  leave(channel: Channel): void {
    channel.close()
    this.#channels.delete(channel)
    this.#queue = this.#queue.filter((waiting) => waiting.channel !== channel)
    if (this.#holder?.channel === channel) this.#rollBack()
    this.#work()
  }

  /** A call that has no answer by now is not executed. */
  close(): void {
    for (const channel of this.#channels.keys()) channel.postMessage(BYE)
    this.#queue = []
    this.#rollBack()
    this.#channels.clear()
  }

  #work(): void {
    for (let next = this.#next(); next; next = this.#next()) this.#serve(next)
  }

  #next(): Waiting | undefined {
    const channel = this.#holder?.channel
    if (!channel) return this.#queue.shift()
    const found = this.#queue.findIndex((waiting) => waiting.channel === channel)
    return found < 0 ? undefined : this.#queue.splice(found, 1)[0]
  }

  #serve({ channel, call }: Waiting): void {
    if (this.#holder && this.#holder.turn !== call.turn) this.#rollBack()
    channel.postMessage(this.#answer(channel, call))
    this.#hold(channel, call.turn)
  }

  #answer(channel: Channel, { call, turn, statements, atomic }: Call): Answer {
    if (this.#channels.get(channel) === turn)
      return { call, error: `the transaction was rolled back: its next statement did not come within ${SILENCE_MS_MAX} ms` }
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

  #hold(channel: Channel, turn: number): void {
    if (this.#holder) this.#env.clear(this.#holder.timer)
    this.#holder = this.#database.inTransaction
      ? { channel, turn, timer: this.#env.timer(SILENCE_MS_MAX, () => this.#rollBackSilent()) }
      : null
  }

  #rollBackSilent(): void {
    this.#rollBack()
    this.#work()
  }

  #rollBack(): void {
    if (!this.#holder) return
    const { channel, turn, timer } = this.#holder
    this.#env.clear(timer)
    this.#holder = null
    if (this.#channels.has(channel)) this.#channels.set(channel, turn)
    this.#undo()
  }

  /** On a full disk SQLite has rolled back already. */
  #undo(): void {
    if (this.#database.inTransaction) this.#database.run(ROLLBACK)
  }
}
