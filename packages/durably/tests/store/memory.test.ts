import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/memory.ts'
import { describeStore, virtualEnv } from '../../src/testing/index.ts'

describeStore(
  { describe, it },
  'memory',
  async () => {
    const env = virtualEnv()
    const store = memoryStore({ env })
    return { store, env, withoutEventLog: async () => memoryStore({ env, eventLog: false }), close: () => store.close() }
  },
  {
    skip: [
      { reason: 'memory lives and dies with its process', tests: ['what a process wrote is there for the next one'] },
      { reason: 'there is no database', chapter: 'transactions' },
      { reason: 'there is no database', chapter: 'create within a transaction' },
    ],
  },
)

it('memory says that it has no transactions', async () => {
  const store = memoryStore()
  expect(store.transact).toBeUndefined()
  await expect(store.runs.create([], { within: {} })).rejects.toMatchObject({ code: 'transaction_unsupported' })
})
