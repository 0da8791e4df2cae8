// The short form, with two pauses.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../dist/postgres/server.js'
import { leaderStorm } from './leader-storm.ts'

const PAUSES = 2

async function onPostgres(): Promise<string> {
  const server = await startPostgres({ own: true })
  onTestFinished(() => server.stop())
  return server.url
}

async function onSqlite(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'durably-schedules-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'app.db')
}

describe.each([
  ['Postgres', onPostgres],
  ['SQLite', onSqlite],
] as const)('three processes on %s whose leader is suspended past its lease', (_, open) => {
  test('use each time of a schedule once and leave out none', { timeout: 120_000 }, async () => {
    const { changes, deposed, troubles, all, once } = await leaderStorm(await open(), PAUSES)
    expect(troubles).toEqual([])
    expect(changes, 'changes of the leader').toBeGreaterThan(0)
    expect(deposed, 'leaders that learnt that they lead no more').toBeGreaterThan(0)
    const [first = 0] = all
    expect(all, 'with misfire all').toEqual(Array.from({ length: all.length }, (_, i) => first + i))
    expect(all.length).toBeGreaterThan(PAUSES * 11)
    expect(new Set(once).size, 'with misfire once').toBe(once.length)
    const gaps = once.slice(1).filter((second, i) => second - (once[i] ?? 0) > 1)
    expect(gaps.length, 'times that were left out together').toBeLessThanOrEqual(PAUSES * 2)
  })
})
