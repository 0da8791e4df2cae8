import { expect, test } from 'vitest'
import { memoryStore } from '../../memory.ts'
import { complete, held } from '../store-contract/world.ts'
import { virtualEnv } from '../virtual-env.ts'
import { ExplainedRuns } from './explained-runs.ts'

/** A run that was listed while it was running, and is not there any more. */
async function lostRun(isGone: boolean) {
  const env = virtualEnv({ isClosed: true })
  const store = memoryStore({ env })
  const owner = await held({ env, store })
  await owner.succeed(complete())
  await store.runs.delete(owner.run.id)
  const listRuns = async () => [owner.run]
  const explained = new ExplainedRuns({ store, listRuns, storeMs: () => env.wall(), isGone: () => isGone })
  return { explained, run: owner.run }
}

async function lookAtLostRun(isGone: boolean) {
  const { explained, run } = await lostRun(isGone)
  await explained.look([run])
  return explained.violations
}

test('accuses nobody of a run that was purged after it was listed', async () => {
  expect(await lookAtLostRun(true)).toEqual([])
})

test('does not accept that a run cannot be explained which nobody has purged', async () => {
  await expect(lookAtLostRun(false)).rejects.toMatchObject({ code: 'run_not_found' })
})

test('reports it where nobody waits for the explanation', async () => {
  const { explained } = await lostRun(false)
  explained.lookAtAll()
  await explained.looked
  expect(explained.violations).toMatchObject([{ invariant: 'I39', what: expect.stringContaining('there is no explanation') }])
})
