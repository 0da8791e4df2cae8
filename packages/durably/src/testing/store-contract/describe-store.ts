import type { Case, World } from './chapter.ts'
import { storeContract } from './chapters.ts'
import { checkCoherence } from './coherence.ts'

/** The part of a test runner that is needed; those of Vitest, Jest, Mocha and `node:test` fit. */
export interface TestRunner {
  /** Defines a group of tests. */
  describe(name: string, define: () => void): unknown
  /** Defines a test; `it.skip` defines one that is not run. */
  it: DefineTest & { skip: DefineTest }
}

type DefineTest = (name: string, run: () => Promise<void>) => unknown

/** The options of `describeStore`. */
export interface ContractOptions {
  /** Cases that are not run, each with a reason. Default: none. */
  skip?: readonly Skip[]
}

/** Cases that are not run: by their names, or a whole chapter. */
export type Skip = {
  /** Why the cases do not apply to this store. */
  reason: string
} & ({ tests: readonly string[] } | { chapter: string })

/** Opens an empty store for one case. It is called for every case, and `close` is called afterwards. */
export type StoreSetup = () => Promise<World & { close(): unknown }>

/** Defines the tests of the store contract for a store, in any test runner: run it against a store of your own. */
export function describeStore({ describe, it }: TestRunner, name: string, setup: StoreSetup, options: ContractOptions = {}): void {
  const reasons = skipReasons(options.skip ?? [])
  describe(`${name} keeps the store contract`, () => {
    for (const { title, cases } of storeContract) {
      describe(title, () => {
        for (const { name, run } of cases) {
          const reason = reasons.get(name)
          if (reason === undefined) it(name, () => inWorld(setup, run))
          else it.skip(`${name} (skipped: ${reason})`, () => inWorld(setup, run))
        }
      })
    }
  })
}

async function inWorld(setup: StoreSetup, run: Case['run']): Promise<void> {
  const world = await setup()
  try {
    await world.store.migrate()
    await run(world)
    await checkCoherence(world.store)
  } finally {
    await world.close()
  }
}

function skipReasons(skips: readonly Skip[]): Map<string, string> {
  const known = caseNames()
  const reasons = new Map<string, string>()
  for (const skip of skips) {
    const { reason } = skip
    if (reason.trim() === '') throw new Error('a skipped case needs a reason')
    for (const test of 'tests' in skip ? skip.tests : casesOf(skip.chapter)) {
      if (!known.has(test)) throw new Error(`the store contract has no case ${JSON.stringify(test)}`)
      reasons.set(test, reason)
    }
  }
  return reasons
}

function casesOf(chapter: string): string[] {
  const found = storeContract.find(({ title }) => title === chapter)
  if (!found) throw new Error(`the store contract has no chapter ${JSON.stringify(chapter)}`)
  return found.cases.map(({ name }) => name)
}

function caseNames(): Set<string> {
  const names = storeContract.flatMap(({ cases }) => cases.map(({ name }) => name))
  const unique = new Set(names)
  const twice = names.find((name) => !unique.delete(name))
  if (twice !== undefined) throw new Error(`two cases of the store contract are named ${JSON.stringify(twice)}`)
  return new Set(names)
}
