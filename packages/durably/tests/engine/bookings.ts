// What the killed process and the one after it share: a table of the user's, and a job that books in it and sends a mail.
import { type Dialect, type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { retry } from '../../src/model/retry-policy.ts'
import type { Transaction } from '../../src/model/transaction.ts'
import { postgres } from '../../src/postgres/index.ts'
import { sqlite } from '../../src/sqlite/index.ts'

/** A file, or the URL of a Postgres; on that, one prefix for each. */
export interface Place {
  database: string
  tablePrefix: string
}

/** `apart`: the mistake that `ctx.transaction` is there for. Rows and step commit one after the other. */
export type How = 'in one transaction' | 'apart'

export function dialectOf({ database }: Place): Dialect {
  return database.startsWith('postgres:') ? postgres(database, { max: 3 }) : sqlite(database, { durability: 'relaxed' })
}

interface OpenOptions {
  how: How
  staleThreshold: number
  dialect?: Dialect
}

export function openBookings(place: Place, { how, staleThreshold, dialect = dialectOf(place) }: OpenOptions) {
  const { tablePrefix } = place
  const durably = createDurably({ dialect, tablePrefix, staleThreshold, pollingInterval: 100, notifications: false, logger: false })
  const table = `${tablePrefix}bookings`
  const db = durably.db as unknown as Kysely<Record<string, { note: string }>>
  const mail = durably.defineJob({ name: 'mail', input: z.string() }, async (_, note) => `mailed ${note}`)
  const book = durably.defineJob({ name: 'book', input: z.string(), retry: retry.fixed({ maxAttempts: 10 }) }, async (ctx, note) => {
    const both = async (trx: Transaction) => {
      for (const part of ['there', 'back'])
        await trx
          .insertInto(table)
          .values({ note: `${note} ${part}` })
          .execute()
      await mail.trigger(note, { tx: trx })
    }
    if (how === 'in one transaction') await ctx.transaction('book', both)
    else await ctx.run('book', () => db.transaction().execute((trx) => both(trx as unknown as Transaction)))
    return 'booked'
  })
  return {
    durably,
    book,
    mail,
    async migrate() {
      await durably.migrate()
      await sql`CREATE TABLE IF NOT EXISTS ${sql.table(table)} (note TEXT NOT NULL)`.execute(db)
    },
    async notes(): Promise<string[]> {
      return (await db.selectFrom(table).select('note').orderBy('note').execute()).map(({ note }) => note)
    },
  }
}
