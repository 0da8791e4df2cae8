// StatementResetTransport — sends nothing over a connection on which an earlier statement still runs.
// libsql does not reset a statement that met BUSY: the statement stays open until the garbage collector finds it. Meanwhile COMMIT
// fails, and worse, a single write is answered as done but is not committed.
//   C1. After BUSY the next thing that is sent is an empty transaction. Until that one commits, nothing else is sent.
//   C2. The garbage collector is always provoked after BUSY: a COMMIT that met BUSY keeps a lock that the empty transaction cannot see.
import type { CompiledQuery } from 'kysely'
import type { Env } from '../../../../model/env.ts'
import { DurablyError } from '../../../../model/errors.ts'
import type { ReservedConnection, Row } from '../../shared/session.ts'
import { TransactionFailed } from '../../shared/transaction.ts'
import { classifyError } from '../classify-error.ts'
import type { Transport } from './transport.ts'

/** In tests the collector came at the first or second call. */
const CALLS_MAX = 100
/** The buffer is never touched, so it takes no memory, but it counts as garbage that should be collected soon. */
const GARBAGE_BYTES = 64 * 1024 * 1024

export class StatementResetTransport implements Transport {
  readonly #inner: Transport
  readonly #env: Env
  #mayHoldStatement = false

  constructor(inner: Transport, env: Env) {
    this.#inner = inner
    this.#env = env
  }

  run(query: CompiledQuery): Promise<Row[]> {
    return this.#watched(() => this.#inner.run(query))
  }

  write(queries: readonly CompiledQuery[]): Promise<Row[][]> {
    return this.#watched(() => this.#inner.write(queries))
  }

  probe(): Promise<void> {
    return this.#watched(() => this.#inner.probe())
  }

  transact<T>(work: (reserved: ReservedConnection) => Promise<T>): Promise<T> {
    return this.#watched(() => this.#inner.transact(work))
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #watched<T>(send: () => Promise<T>): Promise<T> {
    if (this.#mayHoldStatement) await this.#resetStatements()
    try {
      return await send()
    } catch (thrown) {
      this.#mayHoldStatement = hasMetLock(thrown)
      if (this.#mayHoldStatement) forgetFrames(thrown)
      throw thrown
    }
  }

  async #resetStatements(): Promise<void> {
    let calls = 0
    do {
      if (++calls > CALLS_MAX) throw new DurablyError('store_unavailable', 'the connection does not let go of a statement that met a lock')
      await this.#callGarbageCollector()
    } while (!(await this.#hasReset()))
    this.#mayHoldStatement = false
  }

  /** The buffer is read once more in the next turn, so that no bundler removes it as unused. */
  #callGarbageCollector(): Promise<number> {
    const garbage = new ArrayBuffer(GARBAGE_BYTES)
    return new Promise((resolve) => this.#env.defer(() => resolve(garbage.byteLength)))
  }

  async #hasReset(): Promise<boolean> {
    try {
      await this.#inner.probe()
      return true
    } catch (thrown) {
      if (!hasMetLock(thrown)) throw thrown
      forgetFrames(thrown)
      return false
    }
  }
}

/** Only errors of statements count. A file that could not be opened left no statement, and its error is a DurablyError already. */
function hasMetLock(thrown: unknown): boolean {
  if (thrown instanceof TransactionFailed) return hasMetLock(thrown.cause)
  return !(thrown instanceof DurablyError) && classifyError(thrown).code === 'store_busy'
}

/** An error keeps the objects on its stack alive, the statement among them, until its stack has been read as text. */
function forgetFrames(thrown: unknown): void {
  for (let error = thrown; error instanceof Error; error = error.cause) void error.stack
}
