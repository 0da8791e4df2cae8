import { describe, it } from 'vitest'
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
  { skip: [{ reason: 'memory lives and dies with its process', tests: ['what a process wrote is there for the next one'] }] },
)
