// `npm run accept:agentic`: two servers, two workers, Postgres, a load balancer and Chromium; what breaks elsewhere is broken here on purpose.
// The checks have the numbers of the plan that they come from.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SANDBOX_UID, whyNotRun } from '../tests/rig/sandboxes.ts'
import { buildPage } from '../ui/tests/site.ts'
import { anyInstance } from './any-instance.ts'
import { approvals } from './approvals.ts'
import { page } from './page.ts'
import { isolatedTools, sandbox } from './sandbox.ts'
import { Stage, type StageOptions } from './stage.ts'
import { stop } from './stop.ts'
import { streams, streamsWithoutNotifications } from './streams.ts'
import { users } from './users.ts'
import { workerLost } from './worker-lost.ts'

const REPORT = process.env.AGENTIC_REPORT ?? '.tmp/accept-agentic.json'

describe.runIf(process.env.AGENTIC_ACCEPT)('acceptance', { timeout: 180_000, retry: 0 }, () => {
  let opened: Stage
  const stage = () => opened
  const checks: { name: string; result: string; seconds: number }[] = []
  let began = 0

  beforeAll(async () => {
    await buildPage()
    opened = await Stage.open()
    began = performance.now()
  }, 180_000)
  afterEach(({ task }) => {
    const seconds = Math.round((performance.now() - began) / 100) / 10
    checks.push({ name: task.name, result: resultOf(task), seconds })
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
  approvals(stage)
  sandbox(stage)

  describe('C20 without notifications', () => {
    const polling = another(stage, { prefix: 'C20 ', env: { LISTEN_URL: 'postgres://127.0.0.1:1/nowhere' } })
    streamsWithoutNotifications(polling)
  })

  describe('H isolated tools', async () => {
    const why = await whyNotRun('bubblewrap')
    if (why) return test.skip(why, () => {})
    const env = { SANDBOX: 'bubblewrap', SANDBOX_UID: String(SANDBOX_UID), ALLOW_BASH: '1', APPROVE_TOOLS: '' }
    isolatedTools(another(stage, { env }))
  })

  test('nothing took longer than it may', () => {
    expect(opened.tooSlow).toEqual([])
  })
})

/** What could not be tried is not green. */
function resultOf({ result }: { result?: { state: string; note?: string | undefined } | undefined }): string {
  if (result?.state === 'skip' || result?.state === undefined) return result?.note ?? 'not run'
  return result.state === 'fail' ? 'failed' : 'passed'
}

/** A stage of its own, whose figures go into the report of the first. */
function another(first: () => Stage, options: StageOptions): () => Stage {
  let opened: Stage
  beforeAll(async () => {
    opened = await Stage.open(options)
  }, 180_000)
  afterAll(async () => {
    first().include(opened)
    await opened[Symbol.asyncDispose]()
  })
  return () => opened
}
