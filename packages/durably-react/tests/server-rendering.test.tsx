// On a server nothing is asked and nothing is left behind; the page that hydrates it begins with the same words.
import { localClient } from '@coji/durably/client'
import { renderToString } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import { DurablyProvider } from '../src/index.ts'
import { Answer, Greeting, Lines, Resumed, RunList, RunPanel } from './components.tsx'
import { createTestDurably, type TestJobs } from './jobs.ts'
import { watchedClient } from './watched-client.ts'

test('every hook renders on a server, without asking the client or setting a timer', async () => {
  const { client, calls } = watchedClient(localClient<TestJobs>(createTestDurably().durably))
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const html = renderToString(
    <DurablyProvider client={client}>
      <RunPanel runId="01JGFJJZ00RBTQQ2EZ32GJH9QB" />
      <Answer runId="01JGFJJZ00RBTQQ2EZ32GJH9QB" />
      <Lines runId="01JGFJJZ00RBTQQ2EZ32GJH9QB" />
      <RunList />
      <Greeting />
      <Resumed name="resumed" />
    </DurablyProvider>,
  )
  expect(html).toContain('null null at rest')
  expect(html).toContain('<blockquote>…</blockquote>')
  expect([calls, timers.mock.calls]).toStrictEqual([{}, []])
  timers.mockRestore()
})
