// What a SQLite of another driver must be able to do. Those of `sqlite()` and `browserDialect()` can, and do not load this file.
import { CompiledQuery, type Dialect } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'
import { notConfirmed } from '../shared/detect.ts'
import type { Session } from '../shared/session.ts'
import { classifyError } from './classify-error.ts'
import type { Transport } from './transport/transport.ts'

/** `->>` and built-in JSON functions; RETURNING is older. */
const OLDEST = [3, 38] as const

const SPEAKS_NO_JSON = /no such|syntax error|unrecognized token/

export async function checkRequirements(session: Session): Promise<void> {
  const [row] = await session.read(CompiledQuery.raw('select sqlite_version() as version'))
  const version = String(row?.version)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new DurablyError('unknown_dialect', `SQLite ${version} is too old; ${OLDEST.join('.')} or newer is needed`)
  }
  try {
    await session.read(CompiledQuery.raw(`select value ->> 0 from json_each('[[1]]')`))
  } catch (cause) {
    if (!SPEAKS_NO_JSON.test(String(cause))) throw cause
    throw new DurablyError('unknown_dialect', `SQLite ${version} was built without its JSON functions; use a build that has them`, {
      cause,
    })
  }
}

/** Where only the placeholders of a dialect were seen, its database must say that it is SQLite. */
export async function confirm(transport: Transport, dialect: Dialect): Promise<void> {
  try {
    await transport.run(CompiledQuery.raw('select sqlite_version()'))
  } catch (thrown) {
    throw classifyError(thrown).code === 'store_busy' ? thrown : notConfirmed(dialect, 'sqlite_version()', thrown)
  }
}
