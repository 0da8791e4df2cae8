// Speed, guarded without a clock: what an operation costs in statements, commits, round trips, pages and bytes must not change unnoticed.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const BENCH = fileURLToPath(new URL('../../dist/bench.js', import.meta.url))

test('every operation costs what bench/baseline.json says', { timeout: 120_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', BENCH, '--check']).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('every operation costs what bench/baseline.json says\n')
})
