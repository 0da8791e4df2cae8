import type { OpenedSql } from '../../open-sql.ts'
import { CleanTransport } from './clean-transport.ts'
import { kyselyTransport } from './kysely-transport.ts'
import { libsqlClientOf, libsqlTransport } from './libsql-transport.ts'
import type { Transport } from './transport.ts'

/** Through a driver that nobody vouches for: it is taken for libsql. */
export function foreignTransport({ db, driver, dialect, env }: Pick<OpenedSql, 'db' | 'driver' | 'dialect' | 'env'>): Transport {
  const client = libsqlClientOf(driver)
  return new CleanTransport(client ? libsqlTransport(db, client) : kyselyTransport(db, dialect), env)
}
