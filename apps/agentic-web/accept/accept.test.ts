// `npm run accept:agentic`: two servers, two workers, Postgres, a load balancer and Chromium; what breaks elsewhere is broken here on purpose.
// The checks have the numbers of the plan that they come from.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../ui/tests/site.ts'
import { anyInstance } from './any-instance.ts'
import { page } from './page.ts'
import { Stage } from './stage.ts'
import { stop } from './stop.ts'
import { streams } from './streams.ts'
import { users } from './users.ts'
import { workerLost } from './worker-lost.ts'

const REPORT = process.env.AGENTIC_REPORT ?? '.tmp/accept-agentic.json'

describe.runIf(process.env.AGENTIC_ACCEPT)('acceptance', { timeout: 180_000 }, () => {
  let opened: Stage
  const stage = () => opened
  const checks: { name: string; passed: boolean; seconds: number }[] = []
  let began = 0

  beforeAll(async () => {
    await buildPage()
    opened = await Stage.open()
    began = performance.now()
  }, 180_000)
  afterEach(({ task }) => {
    const seconds = Math.round((performance.now() - began) / 100) / 10
    checks.push({ name: task.name, passed: task.result?.state !== 'fail', seconds })
    began = performance.now()
  })
  afterAll(async () => {
    opened?.report(REPORT, checks)
    await opened?.[Symbol.asyncDispose]()
  })

  anyInstance(stage)
  streams(stage)
  stop(stage)
  page(stage)
  workerLost(stage)
  users()

  test('nothing took longer than it may', () => {
    expect(opened.tooSlow).toEqual([])
  })
})
