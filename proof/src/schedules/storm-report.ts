import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../../dist/postgres/server.js'
import { type LeaderStorm, leaderStorm, type StormOptions } from './leader-storm.ts'
import { faultsOf } from './storm-verdict.ts'

export interface StormReport {
  store: 'postgres' | 'sqlite'
  options: StormOptions
  storm: LeaderStorm
  /** What was wrong. */
  faults: string[]
}

/** On a database of its own. */
export async function stormOn(store: 'postgres' | 'sqlite', options: StormOptions): Promise<StormReport> {
  const storm = await (store === 'postgres' ? onPostgres(options) : onSqlite(options))
  return { store, options, storm, faults: faultsOf(storm, options) }
}

async function onPostgres(options: StormOptions): Promise<LeaderStorm> {
  const server = await startPostgres({ own: true })
  try {
    return await leaderStorm(server.url, options)
  } finally {
    await server.stop()
  }
}

async function onSqlite(options: StormOptions): Promise<LeaderStorm> {
  const folder = mkdtempSync(join(tmpdir(), 'durably-storm-'))
  try {
    return await leaderStorm(join(folder, 'app.db'), options)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
