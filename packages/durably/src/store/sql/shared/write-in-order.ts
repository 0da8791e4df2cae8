import type { CompiledQuery } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'
import type { QueryRunner, Row } from './session.ts'

/** What Kysely and the databases say of a transaction that takes nothing any more, and a database of another kind of our statements. */
const UNUSABLE = /^Transaction is already|transaction is aborted|syntax error/

/** Inside a transaction of the caller's own, which may be the wrong one. */
export async function writeInOrder(
  trx: QueryRunner,
  queries: readonly CompiledQuery[],
  classify: (thrown: unknown) => DurablyError,
): Promise<Row[][]> {
  const results: Row[][] = []
  try {
    for (const query of queries) results.push((await trx.executeQuery(query)).rows as Row[])
  } catch (thrown) {
    const error = classify(thrown)
    const said = thrown instanceof Error ? thrown.message : ''
    if (error.code !== 'not_migrated' && !UNUSABLE.test(said)) throw error
    throw new DurablyError(
      'invalid_argument',
      `tx must be an open transaction on the migrated database of this instance, await trigger inside of it: ${said}`,
      {
        cause: thrown,
      },
    )
  }
  return results
}
