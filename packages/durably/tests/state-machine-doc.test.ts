import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { stateMachineDoc } from './state-machine-doc.ts'

const FILE = new URL('../../../docs/state-machine.md', import.meta.url)

test('docs/state-machine.md is printed from the model', () => {
  if (process.env.UPDATE_DOCS) writeFileSync(FILE, stateMachineDoc())
  expect(readFileSync(FILE, 'utf8'), 'docs/state-machine.md is stale: run `npm run docs` and commit the result').toBe(stateMachineDoc())
})
