import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ENGINE_DIST, type Engine, loadEngine } from '../engine-build.ts'
import { buildMutant } from '../mutant-build.ts'
import type { Mutant } from '../mutants.ts'
import { RACES } from './races.ts'

/** Compiling an engine and racing it, on a machine that is busy. */
const MUTANT_MS_MAX = 60_000

const builds = new Map<string, string>()
afterAll(() => {
  for (const dist of builds.values()) rmSync(dirname(dist), { recursive: true, force: true })
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

function loadMutant(mutant: Mutant): Promise<Engine> {
  const dist = builds.get(mutant.name) ?? buildMutant(mutant)
  builds.set(mutant.name, dist)
  return loadEngine(dist)
}
