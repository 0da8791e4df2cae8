import type { OwnerWrite } from '../../owner-write.ts'
import type { Store } from '../../store.ts'
import { outcomeOf } from '../sqlite/apply.ts'
import type { QueriesOf } from '../sqlite/owner-statements.ts'
import type { SqlContext } from './deps.ts'
import { valuesOf } from './owner-values.ts'
import { TransactionFailed } from './transaction.ts'

class Refused extends Error {}

/** The user's rows first, the step last: the run is locked only while its record is written. */
export function transact(context: SqlContext, queriesOf: QueriesOf): NonNullable<Store['transact']> {
  const { session, env } = context
  return async (body) => {
    let bodyEnded = false
    try {
      return await session.transact(async (trx) => {
        const write: OwnerWrite = await body(trx.db)
        // A query of the user's in between would answer `changes()` for ours (A1).
        await trx.seal()
        bodyEnded = true
        const [update, ...rest] = queriesOf(write, valuesOf(write, env))
        const [accepted] = update ? await trx.run(update) : []
        if (!accepted) throw new Refused()
        for (const query of rest) await trx.run(query)
        return outcomeOf(accepted)
      })
    } catch (error) {
      if (!(error instanceof TransactionFailed)) throw error
      if (error.cause instanceof Refused) return { ok: false }
      // What our own statements or the commit met is not the job's fault (R6).
      if (error.isUndone && (!bodyEnded || isAborted(error.cause))) return { undone: error.cause, inConflict: isConflict(error.cause) }
      throw context.classify(error.cause)
    }
  }
}

/** Postgres refuses everything after a statement that failed, also when the body caught its error. */
function isAborted(cause: unknown): boolean {
  return stateOf(cause) === '25P02'
}

/** Serialization failure, deadlock: Postgres chose this one of several to be undone. On SQLite there is one writer at a time. */
function isConflict(cause: unknown): boolean {
  return stateOf(cause) === '40001' || stateOf(cause) === '40P01'
}

function stateOf(cause: unknown): unknown {
  return typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'code') : undefined
}
