// Session — how a verb reaches the database.
//   Q1. `write` is one transaction; there is no branching between its statements, so a batch can be sent at once.
//   Q2. Writes of one run take effect in the order they were asked for (W2): on one connection none that waits for a lock
//       is overtaken; with several of them, an owner waits for each answer before it asks again.
//   Q3. It rejects with a DurablyError only. A rejected write left nothing behind, or its outcome is unknown (S2).
import type { CompiledQuery } from 'kysely'

export type Row = Readonly<Record<string, unknown>>

export interface Session {
  read(query: CompiledQuery): Promise<Row[]>
  /** The rows that each statement returned. */
  write(queries: readonly CompiledQuery[]): Promise<Row[][]>
  /** Lets what is under way finish, then closes the connection. */
  close(): Promise<void>
}
