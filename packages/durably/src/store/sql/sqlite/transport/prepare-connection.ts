// What is done before the first use of a connection whose driver is not known. `sqlite()` and `browserDialect()` need nothing of it.
import { CompiledQuery } from 'kysely'
import type { OpenedSql } from '../../open-sql.ts'
import { classifyError } from '../classify-error.ts'
import { confirm } from '../requirements.ts'
import type { Transport } from './transport.ts'

export async function prepareConnection({ detected, dialect }: OpenedSql, transport: Transport): Promise<void> {
  if (!detected.certain) await confirm(transport, dialect)
  await setBusyTimeout(transport)
}

/** Most locks are held for a moment: to meet BUSY and to try again costs more than to wait for them. */
const BUSY_TIMEOUT_MS = 250

/** A connection that was opened without any timeout gets one; a timeout that the user chose is left alone. */
async function setBusyTimeout(transport: Transport): Promise<void> {
  try {
    const [row] = await transport.run(CompiledQuery.raw('pragma busy_timeout'))
    if (Number(row?.timeout) === 0) await transport.run(CompiledQuery.raw(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`))
  } catch (thrown) {
    // A remote database has no such setting. A database that cannot be opened says so at the statement that follows.
    if (classifyError(thrown).code === 'store_busy') throw thrown
  }
}
