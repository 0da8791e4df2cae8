// The bare tables of the raw limit on SQLite, and the statements on them.

interface Statement {
  run(...parameters: (string | number)[]): unknown
  all(...parameters: (string | number)[]): unknown[]
}

export interface Database {
  exec(sql: string): unknown
  prepare(sql: string): Statement
}

const TABLES = `
  CREATE TABLE runs (id TEXT PRIMARY KEY, job_name TEXT NOT NULL, payload TEXT, status TEXT NOT NULL, output TEXT,
    lease_owner TEXT, lease_expires_at INTEGER, current_step_index INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
  CREATE INDEX runs_pending ON runs (id) WHERE status = 'pending';
  CREATE TABLE steps (run_id TEXT NOT NULL, name TEXT NOT NULL, "index" INTEGER NOT NULL, output TEXT, started_at TEXT NOT NULL,
    completed_at TEXT NOT NULL, PRIMARY KEY (run_id, name)) WITHOUT ROWID;`

const TIME = '2026-01-01T00:00:00.000Z'

/** Makes the tables in an empty file. */
export function openRawStore(database: Database, synchronous: 'NORMAL' | 'FULL'): RawStore {
  database.exec('PRAGMA journal_mode = WAL')
  database.exec(`PRAGMA synchronous = ${synchronous}`)
  database.exec(TABLES)
  return new RawStore(database)
}

export class RawStore {
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #create: Statement
  readonly #step: Statement
  readonly #renew: Statement
  readonly #end: Statement
  readonly #claim: (limit: number) => Statement
  #created = 0

  constructor(database: Database) {
    this.#begin = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#create = database.prepare(
      `INSERT INTO runs (id, job_name, payload, status, created_at, updated_at) VALUES (?, 'job', ?, 'pending', ?, ?)`,
    )
    this.#step = database.prepare(`INSERT INTO steps (run_id, name, "index", output, started_at, completed_at) VALUES (?, ?, ?, ?, ?, ?)`)
    this.#renew = database.prepare(
      `UPDATE runs SET current_step_index = ?, lease_expires_at = ?, updated_at = ? WHERE id = ? AND status = 'running'`,
    )
    this.#end = database.prepare(`UPDATE runs SET status = 'completed', lease_owner = NULL, output = ?, updated_at = ? WHERE id = ?`)
    const claims = new Map<number, Statement>()
    this.#claim = (limit) => {
      const claim =
        claims.get(limit) ??
        database.prepare(
          `UPDATE runs SET status = 'running', lease_owner = ?, lease_expires_at = ?, updated_at = ?
           WHERE id IN (SELECT id FROM runs WHERE status = 'pending' ORDER BY id LIMIT ${limit}) RETURNING id`,
        )
      claims.set(limit, claim)
      return claim
    }
  }

  inTransaction<T>(work: () => T): T {
    this.#begin.run()
    const result = work()
    this.#commit.run()
    return result
  }

  create(): void {
    this.#create.run(String(this.#created++).padStart(26, '0'), '{"i":1}', TIME, TIME)
  }

  claim(limit: number): string[] {
    return (this.#claim(limit).all('owner', Date.now(), TIME) as { id: string }[]).map(({ id }) => id)
  }

  recordStep(runId: string, index: number): void {
    this.#step.run(runId, `step ${index}`, index, `${index}`, TIME, TIME)
    this.#renew.run(index, Date.now(), TIME, runId)
  }

  end(id: string): void {
    this.#end.run('null', TIME, id)
  }
}
