// Runs a command line in this process, and a database for it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably, type Durably } from '@coji/durably'
import { postgres } from '@coji/durably/postgres'
import { sqlite } from '@coji/durably/sqlite'
import { onTestFinished } from 'vitest'
import { main } from '../src/main.ts'
import { temporaryDatabase } from './temporary-database.ts'

interface Terminal {
  columns?: number
  hasColors?: boolean
  input?: string
  env?: Record<string, string>
  interrupted?: AbortSignal
  onOut?: (text: string) => void
}

export interface Said {
  code: number
  out: string
  err: string
}

export async function cli(words: readonly string[], terminal: Terminal = {}): Promise<Said> {
  const { columns, hasColors = false, input = '', env = {}, interrupted = new AbortController().signal, onOut } = terminal
  const said = { out: '', err: '' }
  const code = await main(words, {
    out(text) {
      said.out += `${text}\n`
      onOut?.(text)
    },
    err(text) {
      said.err += `${text}\n`
    },
    status: () => {},
    clear: () => {},
    columns: columns ?? Number.POSITIVE_INFINITY,
    isTerminal: columns !== undefined,
    hasColors,
    env,
    input: async () => input,
    interrupted,
  })
  return { code, ...said }
}

/** What a command printed with `--json`. */
export async function json<T>(words: readonly string[]): Promise<T> {
  const { code, out, err } = await cli([...words, '--json'])
  if (code !== 0) throw new Error(`durably ${words.join(' ')} ended with ${code}: ${err}`)
  return JSON.parse(out) as T
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'durably-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const PLACES = [
  { name: 'SQLite', create: async () => join(temporaryFolder(), 'test.db') },
  { name: 'Postgres', create: temporaryDatabase },
]

/** An instance on the database of a test, closed when the test has finished. */
export async function openAt(db: string): Promise<Durably> {
  const dialect = db.startsWith('postgres') ? postgres(db) : sqlite(db)
  const durably = createDurably({ dialect, logger: false, pollingInterval: 50 })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  await durably.migrate()
  return durably
}
