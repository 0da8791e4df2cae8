import type { OwnerWrite } from '../../owner-write.ts'
import type { Store } from '../../store.ts'
import type { Database } from './assemble-store.ts'
import type { SqlDeps } from './deps.ts'
import { outcomeOf } from './owner-moves.ts'
import { valuesOf } from './owner-values.ts'
import { TransactionFailed } from './transaction.ts'

class Refused extends Error {}

/** The user's rows first, the step last: the run is locked only while its record is written. */
export function transact(deps: SqlDeps, database: Database): NonNullable<Store['transact']> {
  const { session, env } = deps
  const { classify, isAborted, isConflict } = database
  const queriesOf = database.ownerQueries(deps)
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
      if (error.isUndone && (!bodyEnded || isAborted?.(error.cause)))
        return { undone: error.cause, inConflict: isConflict?.(error.cause) ?? false }
      throw classify(error.cause)
    }
  }
}
