// Session — how an operation of the store reaches the database.
//   Q1. `write` is one transaction; there is no branching between its statements, so a batch can be sent at once.
//   Q2. Writes of one run take effect in the order in which they were asked for (W2). With one connection, a write that waits for a
//       lock is not overtaken by the next one. With several connections, an owner waits for each answer before it writes again.
//   Q3. It rejects with a DurablyError only. A rejected write left nothing behind, or its outcome is unknown (S2).
import type { CompiledQuery, DatabaseConnection, Dialect } from 'kysely'
import type { TransactionStatements } from './transaction.ts'

export type Row = Readonly<Record<string, unknown>>

/** A connection that nobody else uses until the transaction of the user on it has ended, and what is needed to write statements for it. */
export interface ReservedConnection {
  connection: DatabaseConnection
  dialect: Dialect
  statements: TransactionStatements
}

/** `urgent`: ahead of everything else that waits. Writes that keep leases alive have this priority. */
export type Priority = 'urgent'

export interface Session {
  read(query: CompiledQuery, priority?: Priority): Promise<Row[]>
  /** The rows that each statement returned. */
  write(queries: readonly CompiledQuery[], priority?: Priority): Promise<Row[][]>
  /** As `write`, inside a transaction that the user has begun with Kysely and will end, such as `tx` in `trigger(input, { tx })`. */
  writeWithin(trx: unknown, queries: readonly CompiledQuery[]): Promise<Row[][]>
  /**
   * Gives `work` a connection of its own for a transaction. `work` is called again only while the transaction could not begin; once it has
   * begun, an error becomes `TransactionFailed`.
   */
  transact<T>(work: (reserved: ReservedConnection) => Promise<T>): Promise<T>
  /** Lets what is under way finish, then closes the connection. */
  close(): Promise<void>
}
