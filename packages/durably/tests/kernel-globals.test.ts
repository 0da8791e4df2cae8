// `Env` is the kernel's only source of time, timers, turns, ids and chance (DESIGN §3): it runs, byte for byte the same,
// in a process where every global source of them throws.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const PROGRAM = fileURLToPath(new URL('fixtures/without-globals.mjs', import.meta.url))

interface Seen {
  seeds: number
  taken: string[]
  stillThere: string[]
  violations: unknown[]
  sameTraces: boolean
  faults: number
  runs: number
  steps: number
  control: string | null
}

describe('the kernel without the global clocks, timers and chance', () => {
  test('runs jobs through crashes, lost replies and pauses, exactly as with them', { timeout: 60_000 }, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', PROGRAM], { timeout: 50_000 })
    const seen = JSON.parse(stdout) as Seen
    expect(seen).toMatchObject({ seeds: 33, stillThere: [], violations: [], sameTraces: true })
    expect(seen.taken).toEqual(
      expect.arrayContaining([
        'new Date()',
        'Date.now',
        'setTimeout',
        'setInterval',
        'Math.random',
        'performance.now',
        'crypto.randomUUID',
      ]),
    )
    expect(seen.faults).toBeGreaterThan(200)
    expect(seen.runs).toBeGreaterThan(100)
    expect(seen.steps).toBeGreaterThan(200)
    // The real environment does not get by without them: what was taken away is what it needs.
    expect(seen.control).toMatch(/was used$/)
  })
})
