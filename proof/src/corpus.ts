// Seeds that once failed, each on the store that showed it. They run first, so that what was found once is found at once.
// A line is a seed and why it is there: `42 # why` for the memory store, `sqlite 42 # why` for another.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Violation } from '../../packages/durably/dist/testing/invariants/index.js'
import { REPO } from './engine-build.ts'
import { SIM_STORES, type SimStore } from './sim-seeds.ts'

const CORPUS = join(REPO, 'proof', 'corpus.txt')

export function corpusSeeds(store: SimStore): number[] {
  if (!existsSync(CORPUS)) return []
  return readFileSync(CORPUS, 'utf8')
    .split(/\r?\n/)
    .flatMap((line) => seedOf(line, store))
}

export function addToCorpus(store: SimStore, seed: number, why: string): void {
  if (!corpusSeeds(store).includes(seed)) appendFileSync(CORPUS, `${store === 'memory' ? '' : `${store} `}${seed} # ${why}\n`)
}

/** The first violation that it showed, in one line. */
export function whyOf([first]: readonly Violation[]): string {
  return first ? `${first.invariant} ${first.what.replace(/\s+/g, ' ')}` : ''
}

function seedOf(line: string, wanted: SimStore): number[] {
  const words = (line.split('#')[0] ?? '').split(/\s+/).filter((word) => word !== '')
  const seed = words.pop()
  if (seed === undefined) return []
  const [store = 'memory', ...others] = words
  if (!/^\d+$/.test(seed) || !SIM_STORES.includes(store as SimStore) || others.length > 0)
    throw new Error(`proof/corpus.txt: "${line}" is not "<seed> # why" or "<${SIM_STORES.join(' | ')}> <seed> # why"`)
  return store === wanted ? [Number(seed)] : []
}
