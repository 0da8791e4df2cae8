// The tables that this program registers are those of its transactions: checked by `tsc -b`.
import type { JobContext } from '@coji/durably'
import { expectTypeOf, test } from 'vitest'
import type { Contact } from '../src/contacts.ts'

test('a transaction knows the tables that were registered, and no others', () => {
  const step = (ctx: JobContext) =>
    ctx.transaction('read', async (trx) => {
      // @ts-expect-error there is no such table
      trx.selectFrom('contracts')
      // @ts-expect-error a contact has a name
      trx.insertInto('contacts').values({ email: 'ada@example.com', city: 'London' })
      return trx.selectFrom('contacts').selectAll().execute()
    })
  expectTypeOf<ReturnType<typeof step>>().toEqualTypeOf<Promise<Contact[]>>()
})
