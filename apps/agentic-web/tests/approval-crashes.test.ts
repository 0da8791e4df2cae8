// A tool that needs approval, with a crash at each of its durable boundaries: before and after the question, while it waits, after the decision,
// before and after the work.
import { crashTest } from '@coji/durably/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { App } from '../dist/app.js'
import { readConfig } from '../dist/config.js'
import { newKey } from '../dist/secrets/key-ring.js'
import { Redactor } from '../dist/secrets/redactor.js'
import { useTool } from '../dist/worker/use-tool.js'

const config = readConfig({ DATABASE_URL: 'file:none', DEMO_MODEL_URL: 'http://127.0.0.1:1', APP_KEYS: newKey() })
const input = { userId: 'u', sessionId: 's', turn: 1, message: '' }
const tools = { offered: ['calculator'], needApproval: ['calculator'] } as const

test.each([
  [true, '42'],
  [false, 'The user denied this call, so it was not done. Do not ask for it again unless the user wants it.'],
])('approved: %s', { timeout: 60_000 }, async (approved, content) => {
  const contents = new Set<string>()
  const report = await crashTest(
    (durably) =>
      durably.defineJob({ name: 'one-tool', input: z.object({}) }, async (ctx) => {
        const request = { type: 'tool_call', tool_call_id: 'c', tool: 'calculator', args: { expression: '6 * 7' } } as const
        const call = { app: { config } as App, redactor: new Redactor(), input, tools, step: 'tool-0-0', request }
        const { result } = await useTool(ctx, call)
        contents.add(result.content)
        return result
      }),
    {},
    { signals: { 'approve-tool-0-0': { approved, by: 'ada', at: '2026-01-01T00:00:00.000Z' } } },
  )
  expect(report.failures).toEqual([])
  expect(report.boundaries.join(' ')).toMatch(/ask-tool-0-0.*approve-tool-0-0.*tool-0-0/s)
  expect([...contents]).toEqual([content])
})
