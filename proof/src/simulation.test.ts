// The short form of `npm run proof`: the programs themselves, as a person would start them.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const DIST = join(import.meta.dirname, '..', 'dist')
const run = async (program: string, ...args: string[]) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', join(DIST, program), ...args])
  return stdout
}

/** The least of what the summary says of these. */
const seen = (summary: string, ...names: string[]) =>
  Math.min(...names.map((name) => Number(new RegExp(`(\\d+) ${name}`).exec(summary)?.[1] ?? 0)))

// Which seeds these are follows from the engine's source. What must be seen in them is about half of what is, in any range.
test('2,000 simulated worlds on the memory store keep every invariant', { timeout: 600_000 }, async () => {
  const line = await run('sim.js', '--seeds', '2000')
  expect(line).toMatch(/^20\d\d seeds on memory \(the corpus, \d+ to \d+\) .* 0 seeds with violations$/m)
  const [, shared, several] = /\((\d+) % shared\), \d+ claims \((\d+) % of several\)/.exec(line) ?? []
  expect(Number(shared), 'commits of several runs').toBeGreaterThanOrEqual(6)
  expect(Number(several), 'claims of several runs').toBeGreaterThanOrEqual(22)
  expect(seen(line, 'families')).toBeGreaterThanOrEqual(100)
  expect(seen(line, 'deleted')).toBeGreaterThanOrEqual(200)
  expect(seen(line, 'children', 'purged', 'attempts', 'tries', 'runs out of time', 'sleeps', 'signals')).toBeGreaterThanOrEqual(500)
  expect(seen(line, 'waits in vain', 'effects in doubt')).toBeGreaterThanOrEqual(150)
  expect(seen(line, 'throws that said when')).toBeGreaterThanOrEqual(100)
  expect(seen(line, 'results that cannot be stored', 'outputs of jobs')).toBeGreaterThanOrEqual(150)
  expect(seen(line, 'of effects')).toBeGreaterThanOrEqual(25)
  expect(seen(line, 'waits inside of steps')).toBeGreaterThanOrEqual(100)
  expect(seen(line, 'races')).toBeGreaterThanOrEqual(400)
  expect(seen(line, 'crowds')).toBeGreaterThanOrEqual(18)
  expect(seen(line, 'machines that slept')).toBeGreaterThanOrEqual(700)
  expect(seen(line, 'terms of tabs')).toBeGreaterThanOrEqual(1200)
  expect(seen(line, 'stolen')).toBeGreaterThanOrEqual(20)
  expect(seen(line, 'silent owners', 'histories archived')).toBeGreaterThanOrEqual(90)
  expect(seen(line, 'commands recorded')).toBeGreaterThanOrEqual(200)
  expect(seen(line, 'orphaned')).toBeGreaterThanOrEqual(50)
  expect(seen(line, 'came back')).toBeGreaterThanOrEqual(2)
  expect(seen(line, 'runs assigned')).toBeGreaterThanOrEqual(500)
  expect(seen(line, 'requests of deposed leaders')).toBeGreaterThanOrEqual(1)
})

test('300 simulated worlds on the SQL store keep every invariant', { timeout: 600_000 }, async () => {
  const line = await run('sim.js', '--seeds', '300', '--store', 'sqlite')
  expect(line).toMatch(/^3\d\d seeds on sqlite \(the corpus, \d+ to \d+\) .* 0 seeds with violations$/m)
  expect(seen(line, 'transactions')).toBeGreaterThanOrEqual(100)
  expect(seen(line, 'late')).toBeGreaterThanOrEqual(5)
  expect(seen(line, 'cut')).toBeGreaterThanOrEqual(10)
})

test.each(['memory', 'sqlite'])('a seed replays byte for byte in another process, on %s', { timeout: 60_000 }, async (store) => {
  const first = await run('sim.js', '--seed', '77', '--trace', '--store', store)
  expect(first).toMatch(/runs\.apply/)
  expect(first).toMatch(/trace [0-9a-f]{16}/)
  expect(await run('sim.js', '--seed', '77', '--trace', '--store', store)).toBe(first)
})

test.each([
  [['--seeds', 'abc'], '--seeds abc: give a whole number from 0 to 10000000'],
  [['--from', '99999999999999999'], '--from 99999999999999999: give a whole number from 0 to 9007199244740991'],
  [['--store', 'mysql'], '--store mysql: there is no such store, only memory and sqlite'],
  [['--sed', '1'], "Unknown option '--sed'"],
])('%j is refused with what is wrong with it', async (args, what) => {
  await expect(run('sim.js', ...args)).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(what) })
})

/** Each is begun with the seed that showed it first. `npm run mutants` and `npm run proof` try all, and look for that seed. */
test('a third of the mutants, another one after each change of the engine, is caught within 2,000 seeds', {
  timeout: 900_000,
}, async () => {
  const table = await run('mutate.js', '--known', '--sample')
  expect(table).not.toContain('NOT CAUGHT')
  expect(Number(/(\d+) of \1 mutants caught/.exec(table)?.[1])).toBeGreaterThanOrEqual(60)
})
