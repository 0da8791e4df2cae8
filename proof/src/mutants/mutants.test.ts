// Checks without a build that each mutant still fits the source, so that a change of a patched line fails here at once.
import { expect, test } from 'vitest'
import { patchedSources } from '../mutant-build.ts'
import { controlsOf } from '../torture/controls.ts'
import { MUTANTS } from './index.ts'

const controls = [...controlsOf('inside'), ...controlsOf('outside')].map(({ mutant }) => mutant)

test.each([...new Set([...MUTANTS, ...controls])])('mutant $name fits the source', (mutant) => {
  expect(patchedSources(mutant).size).toBeGreaterThan(0)
})

test('every mutant has a name of its own', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
})
