// Which seeds are simulated: a range whose place follows from the engine's source. So every change of it meets worlds that nobody
// has seen, and everybody who has the same source simulates the same ones. The number of seeds is fixed, their place is not.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { corpusSeeds } from './corpus.ts'
import { REPO } from './engine-build.ts'
import type { SimStore } from './sim-seeds.ts'

const SOURCE = join(REPO, 'packages', 'durably', 'src')
/** A world is chosen by 32 bits. Seeds below are for mutants and for experiments. */
const SEED_MIN = 100_000_000
export const SEED_MAX = 2 ** 32 - 1
/** A seed that is picked by hand may be larger than `SEED_MAX`; then the same worlds come again. */
export const PICKED_SEED_MAX = Number.MAX_SAFE_INTEGER - 10_000_000
/** Two stores never have a world in common, and no range reaches into the next part. */
const PART = 2_000_000_000
const PLACES: Record<SimStore, number> = { memory: SEED_MIN, sqlite: SEED_MIN + PART }
/** Places end with zeros: somebody has to type them. */
const STEP = 1000
export const SEEDS_MAX = 10_000_000

export interface SeedRange {
  from: number
  count: number
}

export function freshRange(store: SimStore, count: number, source: string = SOURCE): SeedRange {
  const places = Math.floor((PART - SEEDS_MAX) / STEP)
  return { from: PLACES[store] + (hashOf(source, store) % places) * STEP, count }
}

/** Those of the corpus come first. */
export function seedsOf(store: SimStore, { from, count }: SeedRange): number[] {
  return [...new Set([...corpusSeeds(store), ...Array.from({ length: count }, (_, i) => from + i)])]
}

export function rangeText({ from, count }: SeedRange): string {
  return count === 0 ? 'the corpus' : `the corpus, ${from} to ${from + count - 1}`
}

/** The same on every machine: neither how it writes paths nor how it ends lines counts. Tests change no world. */
function hashOf(folder: string, store: SimStore): number {
  const hash = createHash('sha256').update(store)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({ path, name: path.slice(folder.length).split(sep).join('/') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const { path, name } of files) hash.update(`\0${name}\0`).update(readFileSync(path, 'utf8').replaceAll('\r\n', '\n'))
  return hash.digest().readUInt32BE(0)
}
