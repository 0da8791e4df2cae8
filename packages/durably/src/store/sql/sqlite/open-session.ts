import { CompiledQuery, type Dialect } from 'kysely'
import type { Env } from '../../../model/env.ts'
import { type Detected, notConfirmed } from '../shared/detect.ts'
import type { Session } from '../shared/session.ts'
import { classifyError } from './classify-error.ts'
import { SqliteSession } from './session.ts'
import type { Transport } from './transport/transport.ts'

export interface SessionParts {
  env: Env
  dialect: Dialect
  detected: Detected
}

export function openSqliteSession({ env, dialect, detected }: SessionParts, transport: Transport): Session {
  return new SqliteSession(transport, env, async () => {
    if (!detected.certain) await confirm(transport, dialect)
    await waitBriefly(transport)
  })
}

async function confirm(transport: Transport, dialect: Dialect): Promise<void> {
  try {
    await transport.run(CompiledQuery.raw('select sqlite_version()'))
  } catch (thrown) {
    throw isBusy(thrown) ? thrown : notConfirmed(dialect, 'sqlite_version()', thrown)
  }
}

/** Most locks are held for a moment: to meet BUSY and come back costs more than to wait for them. */
const BUSY_TIMEOUT_MS = 250

/** A connection that was opened without any timeout gets one; one that the user chose is left alone. */
async function waitBriefly(transport: Transport): Promise<void> {
  try {
    const [row] = await transport.run(CompiledQuery.raw('pragma busy_timeout'))
    if (Number(row?.timeout) === 0) await transport.run(CompiledQuery.raw(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`))
  } catch (thrown) {
    // A remote database has no such setting; one that cannot be opened says so at the statement that follows.
    if (isBusy(thrown)) throw thrown
  }
}

function isBusy(thrown: unknown): boolean {
  return classifyError(thrown).code === 'store_busy'
}
