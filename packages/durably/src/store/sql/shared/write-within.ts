import type { CompiledQuery } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'
import type { Row } from './session.ts'

/** A transaction of Kysely, of any copy of it. */
interface QueryRunner {
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
  if (!isQueryRunner(trx)) {
    throw new DurablyError('invalid_argument', 'tx must be a transaction of Kysely, on the database that this instance uses')
  }
  const results: Row[][] = []
  try {
    for (const query of queries) results.push((await trx.executeQuery(query)).rows as Row[])
  } catch (cause) {
    const error = classify(cause)
    const message = cause instanceof Error ? cause.message : ''
    if (error.code !== 'not_migrated' && !UNUSABLE.test(message)) throw error
    throw new DurablyError(
      'invalid_argument',
      `tx must be an open transaction on the migrated database of this instance, await trigger inside of it: ${message}`,
      { cause },
    )
  }
  return results
}

function isQueryRunner(trx: unknown): trx is QueryRunner {
  return typeof trx === 'object' && trx !== null && typeof Reflect.get(trx, 'executeQuery') === 'function'
}
