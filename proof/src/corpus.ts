// Seeds that once failed. They run first, so that what was found once is found at once.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPO } from './engine-build.ts'

const CORPUS = join(REPO, 'proof', 'corpus.txt')

export function corpusSeeds(): number[] {
  if (!existsSync(CORPUS)) return []
  return readFileSync(CORPUS, 'utf8')
    .split('\n')
    .map((line) => line.split('#')[0]?.trim() ?? '')
    .filter((seed) => seed !== '')
    .map(Number)
}

export function addToCorpus(seed: number, why: string): void {
  if (!corpusSeeds().includes(seed)) appendFileSync(CORPUS, `${seed} # ${why}\n`)
}
