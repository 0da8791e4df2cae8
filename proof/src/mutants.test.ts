// Without a build, so that whoever changes a line that a mutant patches hears of it at once.
import { expect, test } from 'vitest'
import { patchedSources } from './mutant-build.ts'
import { MUTANTS } from './mutants.ts'

test.each(MUTANTS)('mutant $name fits the source', (mutant) => {
  expect(patchedSources(mutant).size).toBeGreaterThan(0)
})

test('every mutant has a name of its own', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
})
