import { afterAll, describe, expect, it } from 'vitest'
import { ENGINE_DIST, type Engine, loadEngine } from '../engine-build.ts'
import { buildMutant, type MutantBuild } from '../mutant-build.ts'
import type { Mutant } from '../mutants/mutant.ts'
import { RACES } from './races.ts'

/** Compiling an engine and racing it, on a machine that is busy. */
const MUTANT_MS_MAX = 60_000

const builds = new Map<string, MutantBuild>()
afterAll(() => {
  for (const { remove } of builds.values()) remove()
})

describe('two connections on one SQLite file, one held before each statement of its call', () => {
  for (const { name, run, mutants } of RACES) {
    it(name, async () => {
      const raced = await run(await loadEngine(ENGINE_DIST))
      expect(raced.length).toBeGreaterThan(1)
      expect(raced.filter(({ broken }) => broken.length > 0)).toEqual([])
    })

    for (const { dropIndex, ...mutant } of mutants) {
      it(
        `${name}: lost without "${mutant.guard}"`,
        async () => {
          const raced = await run(await loadMutant(mutant), dropIndex)
          expect(raced.filter(({ broken }) => broken.length > 0)).not.toEqual([])
        },
        MUTANT_MS_MAX,
      )
    }
  }
})

async function loadMutant(mutant: Mutant): Promise<Engine> {
  const build = builds.get(mutant.name) ?? (await buildMutant(mutant))
  builds.set(mutant.name, build)
  return loadEngine(build.dist)
}
