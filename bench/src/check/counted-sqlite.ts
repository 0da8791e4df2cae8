// SQLite, counted where nothing can be missed: statements in the driver itself, pages and commits in the file of the log.
//   S1. The log is never emptied while something is counted.
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { loadSqlite, type StatementSync } from '../../../packages/durably/dist/sqlite/database-sync.js'
import { sqlite } from '../../../packages/durably/dist/sqlite/index.js'
import type { CountedStore, Counts } from './counts.ts'

let statements = 0

/** Puts a driver that counts in the place of the runtime's own, where `sqlite()` looks first. */
async function countStatements(): Promise<void> {
  if (statements > 0) return
  const { DatabaseSync } = await loadSqlite()
  class CountingDatabase extends DatabaseSync {
    override exec(text: string): void {
      statements += 1
      super.exec(text)
    }

    override prepare(text: string): StatementSync {
      return counting(super.prepare(text))
    }
  }
  const builtIn = process.getBuiltinModule
  const replaced = (name: string) => (name === 'node:sqlite' ? { DatabaseSync: CountingDatabase } : builtIn(name))
  process.getBuiltinModule = replaced as typeof builtIn
}

function counting(statement: StatementSync): StatementSync {
  return new Proxy(statement, {
    get(_, verb) {
      const member: unknown = Reflect.get(statement, verb)
      if (typeof member !== 'function') return member
      return (...parameters: unknown[]) => {
        if (verb !== 'columns') statements += 1
        return Reflect.apply(member, statement, parameters)
      }
    },
  })
}

const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const PAGE_BYTES = 4096
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
/** Of a frame that ends a transaction it is the size of the database, of all others zero. */
const SIZE_AFTER_COMMIT = 4

/** Follows the log as it grows. */
class Log {
  readonly #file: string
  #next = LOG_HEADER_BYTES
  #commits = 0
  #pages = 0

  constructor(file: string) {
    this.#file = file
  }

  read(): Pick<Counts, 'commits' | 'pages'> {
    const descriptor = openSync(this.#file, 'r')
    const header = Buffer.alloc(FRAME_HEADER_BYTES)
    const { size } = fstatSync(descriptor)
    for (; this.#next + FRAME_BYTES <= size; this.#next += FRAME_BYTES) {
      readSync(descriptor, header, { position: this.#next })
      this.#pages += 1
      if (header.readUInt32BE(SIZE_AFTER_COMMIT) > 0) this.#commits += 1
    }
    closeSync(descriptor)
    return { commits: this.#commits, pages: this.#pages }
  }
}

export async function countedSqlite(): Promise<CountedStore> {
  await countStatements()
  const directory = mkdtempSync(join(tmpdir(), 'durably-check-'))
  const file = join(directory, 'check.db')
  const log = new Log(`${file}-wal`)
  return {
    dialect: () => sqlite(file),
    // S1.
    onOpen: async (db) => void (await sql`PRAGMA wal_autocheckpoint = 0`.execute(db)),
    read: async () => ({ statements, ...log.read() }),
    close: async () => rmSync(directory, { recursive: true, force: true }),
  }
}
