// CleanTransport — nothing is sent over a connection on which an earlier statement still runs.
// libsql does not reset a statement that met BUSY; it stays until the garbage collector finds it. Meanwhile COMMIT fails,
// and worse, a single write is answered as done but is not committed.
//   C1. After BUSY the next thing sent is an empty transaction; until that commits, nothing else is.
//   C2. The collector is called in any case: a COMMIT that met BUSY keeps a lock, but does not show in the empty transaction.
import type { CompiledQuery } from 'kysely'
import type { Env } from '../../../../model/env.ts'
import { DurablyError } from '../../../../model/errors.ts'
import type { BoundTransaction, Row } from '../../shared/session.ts'
import { TransactionFailed } from '../../shared/transaction.ts'
import { classifyError } from '../classify-error.ts'
import type { Transport } from './transport.ts'

/** Seen: the collector comes at the first or second call. */
const CALLS_MAX = 100
/** Never touched, so it takes no memory, but counts as garbage to be collected soon. */
const GARBAGE_BYTES = 64 * 1024 * 1024

export class CleanTransport implements Transport {
  readonly #inner: Transport
  readonly #env: Env
  #isSuspect = false

  constructor(inner: Transport, env: Env) {
    this.#inner = inner
    this.#env = env
  }

  run(query: CompiledQuery): Promise<Row[]> {
    return this.#watched(() => this.#inner.run(query))
  }

  transact(queries: readonly CompiledQuery[]): Promise<Row[][]> {
    return this.#watched(() => this.#inner.transact(queries))
  }

  transactNothing(): Promise<void> {
    return this.#watched(() => this.#inner.transactNothing())
  }

  interact<T>(work: (trx: BoundTransaction) => Promise<T>): Promise<T> {
    return this.#watched(() => this.#inner.interact(work))
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #watched<T>(send: () => Promise<T>): Promise<T> {
    if (this.#isSuspect) await this.#clean()
    try {
      return await send()
    } catch (thrown) {
      this.#isSuspect = hasMetLock(thrown)
      if (this.#isSuspect) forgetFrames(thrown)
      throw thrown
    }
  }

  async #clean(): Promise<void> {
    let calls = 0
    do {
      if (++calls > CALLS_MAX) throw new DurablyError('store_unavailable', 'the connection does not let go of a statement that met a lock')
      await this.#callGarbageCollector()
    } while (!(await this.#isClean()))
    this.#isSuspect = false
  }

  /** The buffer is used once more in the next turn, lest a bundler takes making it for superfluous. */
  #callGarbageCollector(): Promise<number> {
    const garbage = new ArrayBuffer(GARBAGE_BYTES)
    return new Promise((resolve) => this.#env.defer(() => resolve(garbage.byteLength)))
  }

  async #isClean(): Promise<boolean> {
    try {
      await this.#inner.transactNothing()
      return true
    } catch (thrown) {
      if (!hasMetLock(thrown)) throw thrown
      forgetFrames(thrown)
      return false
    }
  }
}

/** A statement has; a file that could not be opened is no matter of statements, and is already explained. */
function hasMetLock(thrown: unknown): boolean {
  if (thrown instanceof TransactionFailed) return hasMetLock(thrown.cause)
  return !(thrown instanceof DurablyError) && classifyError(thrown).code === 'store_busy'
}

/** An error keeps the objects on its stack, the statement among them, until the stack has been read as text. */
function forgetFrames(thrown: unknown): void {
  for (let error = thrown; error instanceof Error; error = error.cause) void error.stack
}
