// Where the components of the tests find their runs: in the page itself, or on the server of tests/server-setup.ts.
import { type DurablyClient, httpClient, localClient } from '@coji/durably/client'
import { inject, onTestFinished } from 'vitest'
import { createTestDurably, type TestJobs } from './jobs.ts'

export const WORLDS = ['the page itself', 'a server'] as const
export type World = (typeof WORLDS)[number]

export function clientOf(world: World): DurablyClient<TestJobs> {
  if (world === 'a server') return httpClient<TestJobs>({ url: inject('durablyUrl') })
  const { durably } = createTestDurably()
  durably.start()
  onTestFinished(() => durably.stop({ timeout: 0 }))
  return localClient<TestJobs>(durably)
}
