// The table that the import fills: our own, in the same database as the runs.
import type { Transaction } from '@coji/durably'
import type { Generated, Selectable } from 'kysely'
import { z } from 'zod'
import { durably } from './durably.ts'

export const contactSchema = z.object({
  name: z.string().min(1, 'is missing'),
  email: z.email('is no address'),
  city: z.string(),
})
export type NewContact = z.infer<typeof contactSchema>

interface ContactTable extends NewContact {
  id: Generated<number>
}
export type Contact = Selectable<ContactTable>

type Tables = { contacts: ContactTable }

declare module '@coji/durably' {
  interface Register {
    tables: Tables
  }
}

const db = durably.db.withTables<Tables>()

export async function createContacts(): Promise<void> {
  const table = db.schema.createTable('contacts').ifNotExists()
  await table
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('city', 'text', (column) => column.notNull())
    .execute()
}

export async function saveContacts(trx: Transaction, contacts: NewContact[]): Promise<void> {
  if (contacts.length > 0) await trx.insertInto('contacts').values(contacts).execute()
}

export function readContacts(): Promise<Contact[]> {
  return db.selectFrom('contacts').selectAll().orderBy('id', 'desc').execute()
}
