// The seed that showed each mutant first, the last time that it was looked for. What it showed once it shows again, until the engine
// or the simulated worlds change: the short proof begins with it. One that shows nothing any more only costs time.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPO } from './engine-build.ts'
import { MUTANTS } from './mutants/index.ts'

const FIRST_SEEDS = join(REPO, 'proof', 'first-seeds.json')

/** By the name of the mutant. */
export function firstSeeds(): Record<string, number> {
  return existsSync(FIRST_SEEDS) ? JSON.parse(readFileSync(FIRST_SEEDS, 'utf8')) : {}
}

/** Seeds of other mutants stay, as long as those mutants exist. */
export function recordFirstSeeds(found: ReadonlyMap<string, number>): void {
  const before = firstSeeds()
  const seeds = MUTANTS.map(({ name }) => [name, found.get(name) ?? before[name]])
  writeFileSync(FIRST_SEEDS, `${JSON.stringify(Object.fromEntries(seeds), null, 2)}\n`)
}
