// Transactions that hold rows of the user and rows of ours: `ctx.transaction`, and `trigger({ tx })`. Most jobs have neither, so this code is
// loaded with the first one (ADR 0009).
import { type CompiledQuery, sql } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'
import type { OwnerWrite } from '../../owner-write.ts'
import type { Store } from '../../store.ts'
import type { Database } from './assemble-store.ts'
import type { SqlDeps } from './deps.ts'
import { outcomeOf } from './owner-moves.ts'
import { valuesOf } from './owner-values.ts'
import type { Row } from './session.ts'
import { transactOn } from './transact-on.ts'
import { TransactionFailed } from './transaction.ts'

class Refused extends Error {}

/** The user's rows are written first and the step last, so that the run is locked only while its record is written. */
export function transact(deps: SqlDeps, database: Database): NonNullable<Store['transact']> {
  const { session } = deps
  const { classify, isAborted, isConflict } = database
  const { runs } = deps.tables
  // SQLite does not know the alias `r` inside RETURNING.
  const queriesOf = database.ownerQueries(
    deps,
    (p) =>
      sql`RETURNING coalesce(cancel_requested_at, (SELECT parent.cancel_requested_at FROM ${runs} AS parent WHERE parent.id = ${p('parentRunId')})) AS cancel_requested_at`,
  )
  return async (body, statementMs) => {
    let bodyEnded = false
    try {
      return await session.transact((place) =>
        transactOn(place, statementMs, async (trx) => {
          const write: OwnerWrite = await body(trx.db)
          // On SQLite a query of the user's in between would change what `changes()` answers to our statements (sqlite/apply.ts).
          await trx.seal()
          bodyEnded = true
          const [update, ...rest] = queriesOf(write, valuesOf(write, deps))
          const [accepted] = update ? await trx.run(update) : []
          if (!accepted) throw new Refused()
          for (const query of rest) await trx.run(query)
          return outcomeOf(accepted)
        }),
      )
    } catch (error) {
      if (!(error instanceof TransactionFailed)) throw error
      if (error.cause instanceof Refused) return { ok: false }
      // An error of our own statements, or of the commit, is not the job's fault (R6).
      if (error.isUndone && (!bodyEnded || isAborted?.(error.cause)))
        return { undone: error.cause, inConflict: isConflict?.(error.cause) ?? false }
      throw classify(error.cause)
    }
  }
}

/** A transaction of Kysely, also of another copy of Kysely. */
interface OpenTransaction {
  executeQuery(query: CompiledQuery): Promise<{ rows: unknown[] }>
}

/**
 * The messages of Kysely and of the databases for a transaction that accepts nothing any more, and that of a database of another kind
 * for our statements.
 */
const UNUSABLE = /^Transaction is already|transaction is aborted|syntax error/

/** Writes inside a transaction of the caller, which may be the wrong one. */
export async function writeWithin(
  trx: unknown,
  queries: readonly CompiledQuery[],
  classify: (thrown: unknown) => DurablyError,
): Promise<Row[][]> {
  if (!isTransaction(trx)) {
    throw new DurablyError(
      'invalid_argument',
      'tx must be a transaction of Kysely, on the database that this instance uses: what db.transaction().execute() passes to its function',
    )
  }
  const results: Row[][] = []
  try {
    for (const query of queries) results.push((await trx.executeQuery(query)).rows as Row[])
  } catch (cause) {
    const error = classify(cause)
    const message = cause instanceof Error ? cause.message : ''
    if (error.code === 'store_busy')
      throw new DurablyError('store_busy', `roll tx back and try the whole transaction again: ${error.message}`, { cause })
    if (error.code !== 'not_migrated' && !UNUSABLE.test(message)) throw error
    throw new DurablyError(
      'invalid_argument',
      `tx must be an open transaction on the migrated database of this instance, await trigger inside of it: ${message}`,
      { cause },
    )
  }
  return results
}

/** Kysely itself has the same methods as a transaction of it, but would commit each of our statements separately. */
function isTransaction(trx: unknown): trx is OpenTransaction {
  return typeof trx === 'object' && trx !== null && Reflect.get(trx, 'isTransaction') === true
}
