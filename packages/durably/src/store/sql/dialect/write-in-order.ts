import type { CompiledQuery } from 'kysely'
import type { DurablyError } from '../../../model/errors.ts'
import type { QueryRunner, Row } from '../session.ts'

export async function writeInOrder(
  trx: QueryRunner,
  queries: readonly CompiledQuery[],
  classify: (thrown: unknown) => DurablyError,
): Promise<Row[][]> {
  const results: Row[][] = []
  try {
    for (const query of queries) results.push((await trx.executeQuery(query)).rows as Row[])
  } catch (thrown) {
    throw classify(thrown)
  }
  return results
}
