// Transaction — what the function of `ctx.transaction` writes through: a Kysely transaction with the tables of the program.
import type { Transaction as KyselyTransaction } from 'kysely'

/**
 * Extend this interface to give `ctx.transaction` the types of your tables.
 *
 * @example
 * declare module '@coji/durably' {
 *   interface Register {
 *     tables: { bookings: { seat: string; guest: string } }
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: a program adds to it
export interface Register {}

/** Without registered tables every name of a table and a column is accepted, and what is read is `unknown`. */
type UnregisteredTables = Record<string, Record<string, unknown>>

/**
 * The Kysely transaction that the function of `ctx.transaction` writes through. Its tables are those that you declare in `Register`;
 * without that, any table and column is accepted.
 */
export type Transaction = KyselyTransaction<Register extends { readonly tables: infer TTables } ? TTables : UnregisteredTables>
