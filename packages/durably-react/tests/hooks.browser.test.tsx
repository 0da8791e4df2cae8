// The hooks in components of a real page: the same ones against the tab that runs the jobs and against a server.
import { type DurablyClient, DurablyError, httpClient, type Run } from '@coji/durably/client'
import { type ReactNode, StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { page as locators } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { DurablyProvider } from '../src/index.ts'
import {
  Answer,
  AsksClient,
  Connection,
  ErrorBoundary,
  Greeting,
  GreetsByItself,
  Lines,
  Nervous,
  Resumed,
  RunList,
  RunPanel,
} from './components.tsx'
import type { TestJobs } from './jobs.ts'
import { watchedClient } from './watched-client.ts'
import { clientOf, WORLDS, type World } from './worlds.ts'

function inside(client: DurablyClient<TestJobs>, children: ReactNode) {
  return (
    <StrictMode>
      <DurablyProvider client={client}>{children}</DurablyProvider>
    </StrictMode>
  )
}

function setup(world: World) {
  const watched = watchedClient(clientOf(world))
  const { client } = watched
  const show = (children: ReactNode) => render(inside(client, children))
  const go = ({ id }: Run) => client.trigger('go', { runId: id })
  /** In the state that a test begins with; asked past the hooks. */
  const has = (status: Run['status'], { id }: Run) =>
    vi.waitUntil(async () => (await client.getRun(id))?.status === status, { timeout: 10_000, interval: 20 })
  return { ...watched, show, go, has }
}

describe.each(WORLDS)('hooks, runs in %s', (world) => {
  test('useRun shows a run to its end, with its values, through one subscription', async () => {
    const { client, show, go, calls, open, has } = setup(world)
    const run = await client.trigger('work', { steps: 2 })
    await has('running', run)
    calls.getRun = 0
    const page = await show(
      <>
        <RunPanel runId={run.id} />
        <Answer runId={run.id} />
      </>,
    )
    await expect.element(page.getByRole('heading')).toHaveTextContent('running running busy')
    expect([calls.getRun, calls.subscribe, open()]).toStrictEqual([1, 1, 1])
    await go(run)
    await expect.element(page.getByText('step 1, 1 of 2, output null')).toBeVisible()
    await go(run)
    await expect.element(page.getByText('step 2, 2 of 2, output 2')).toBeVisible()
    await expect.element(page.getByRole('heading')).toHaveTextContent('completed completed at rest')
    expect(calls.subscribe).toBe(1)
    await page.unmount()
    await vi.waitUntil(() => open() === 0, { timeout: 10_000 })
  })

  test('useJob triggers a run and follows it; what a job returns arrives as it was', async () => {
    const { show } = setup(world)
    const page = await show(<Greeting />)
    await expect.element(page.getByRole('heading')).toHaveTextContent('null false')
    await page.getByRole('button', { name: 'Greet', exact: true }).click()
    await expect.element(page.getByText('Hello, Ada! 1970-01-01T00:00:00.000Z')).toBeVisible()
    await expect.element(page.getByRole('heading')).toHaveTextContent('completed false')
    await page.getByRole('button', { name: 'Forget' }).click()
    await expect.element(page.getByText('nothing yet')).toBeVisible()
  })

  test('Stop stops: what is shown is what became of the run', async () => {
    const { client, show, has } = setup(world)
    const run = await client.trigger('work', { steps: 2 })
    await has('running', run)
    const page = await show(<RunPanel runId={run.id} />)
    await expect.element(page.getByRole('heading')).toHaveTextContent('running')
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect.element(page.getByRole('heading')).toHaveTextContent('cancelled cancelled at rest')
    expect(await client.getRun(run.id)).toMatchObject({ status: 'cancelled' })
  })

  test('a run that takes its time to stop is cancelling until it has', async () => {
    const { client, show, go, has } = setup(world)
    const run = await client.trigger('work', { steps: 2, isStubborn: true })
    await has('running', run)
    const page = await show(<RunPanel runId={run.id} />)
    await expect.element(page.getByRole('heading')).toHaveTextContent('running')
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect.element(page.getByRole('heading')).toHaveTextContent('running cancelling busy')
    await go(run)
    await expect.element(page.getByRole('heading')).toHaveTextContent('cancelled cancelled at rest')
  })

  test('Stop right after Start stops the run that is being started', async () => {
    const { show } = setup(world)
    const page = await show(<Nervous />)
    await page.getByRole('button').click()
    await expect.element(page.getByRole('heading')).toHaveTextContent('cancelled false')
  })

  test('a failed run says why, and Retry goes on', async () => {
    const { client, show, go, has } = setup(world)
    const run = await client.trigger('flaky', {})
    await has('failed', run)
    const page = await show(<RunPanel runId={run.id} />)
    await expect.element(page.getByRole('heading')).toHaveTextContent('failed failed at rest')
    await expect.element(page.getByRole('alert')).toHaveTextContent('not yet')
    await has('completed', await go(run))
    await page.getByRole('button', { name: 'Retry' }).click()
    await expect.element(page.getByText('output at last')).toBeVisible()
    await expect.element(page.getByRole('alert')).toHaveTextContent('')
  })

  test('what cannot be done is said, and a retry of a run that did not fail is such a thing', async () => {
    const { client, show } = setup(world)
    const run = await client.trigger('work', { steps: 1 })
    const page = await show(<RunPanel runId={run.id} />)
    await page.getByRole('button', { name: 'Retry' }).click()
    await expect.element(page.getByRole('alert')).toHaveTextContent(/cannot be retried: it is (pending|running) and has not ended/)
  })

  test('a text comes word by word; a page that is loaded again shows the same text, once', async () => {
    const { client, show, go, open } = setup(world)
    const run = await client.trigger('talk', { words: ['one ', 'two ', 'three'] })
    const page = await show(<Answer runId={run.id} />)
    await expect.element(page.getByRole('blockquote')).toHaveTextContent(/^one …$/)
    await go(run)
    await expect.element(page.getByRole('blockquote')).toHaveTextContent(/^one two …$/)
    await page.unmount()
    // Nothing of the first page is left.
    await vi.waitUntil(() => open() === 0, { timeout: 10_000 })
    const again = await show(<Answer runId={run.id} />)
    await expect.element(again.getByRole('blockquote')).toHaveTextContent(/^one two …$/)
    await go(run)
    await go(run)
    await expect.element(again.getByRole('blockquote')).toHaveTextContent(/^one two three\.$/)
    await again.unmount()
    const late = await show(<Answer runId={run.id} />)
    await expect.element(late.getByRole('blockquote')).toHaveTextContent(/^one two three\.$/)
  })

  test('a text whose run is stopped is done: nothing more comes', async () => {
    const { client, show } = setup(world)
    const run = await client.trigger('talk', { words: ['one', 'two'] })
    const page = await show(<Answer runId={run.id} />)
    await expect.element(page.getByRole('blockquote')).toHaveTextContent(/^one…$/)
    await client.cancel(run.id)
    await expect.element(page.getByRole('blockquote')).toHaveTextContent(/^one\.$/)
  })

  test('useRunLogs has the lines of before and those that come', async () => {
    const { client, show, go } = setup(world)
    const run = await client.trigger('work', { steps: 2 })
    await go(run)
    const page = await show(<Lines runId={run.id} />)
    await expect.element(page.getByText('info: step 1 is done')).toBeVisible()
    await go(run)
    await expect.element(page.getByText('info: step 2 is done')).toBeVisible()
    expect(page.getByRole('listitem').elements()).toHaveLength(2)
  })

  test('useRuns follows the list: new runs, what becomes of them, older pages', async () => {
    const { client, show, go, calls } = setup(world)
    const page = await show(<RunList />)
    const runs: Run[] = []
    for (let i = 0; i < 3; i++) runs.unshift(await client.trigger('work', { steps: 1 }))
    const [newest, , oldest] = runs as [Run, Run, Run]
    await expect.element(page.getByText(`${newest.id} running`)).toBeVisible()
    await go(newest)
    await expect.element(page.getByText(`${newest.id} completed`)).toBeVisible()
    await page.getByRole('button').click()
    await expect.element(page.getByText(`${oldest.id} running`)).toBeVisible()
    expect(calls.watchRuns).toBe(1)
  })

  test('a run that was deleted is gone', async () => {
    const { client, show, has } = setup(world)
    const run = await client.trigger('greet', { name: 'Ada' })
    await has('completed', run)
    await client.deleteRun(run.id)
    const page = await show(<RunPanel runId={run.id} />)
    await expect.element(page.getByRole('heading')).toHaveTextContent('gone gone at rest')
    await expect.element(page.getByRole('alert')).toHaveTextContent(`there is no run "${run.id}"`)
  })

  test('an error of the server is shown over what is known, and passes', async () => {
    const { client, show, go, fail, has } = setup(world)
    const run = await client.trigger('work', { steps: 1 })
    await has('running', run)
    const page = await show(<RunPanel runId={run.id} />)
    await expect.element(page.getByRole('heading')).toHaveTextContent('running')
    fail('getRun', new DurablyError('store_unavailable', 'the database is away'))
    fail('subscribe', new DurablyError('store_unavailable', 'the database is away'))
    await expect.element(page.getByRole('alert')).toHaveTextContent('the database is away')
    await expect.element(page.getByRole('heading')).toHaveTextContent('running')
    await go(run)
    fail('getRun', null)
    fail('subscribe', null)
    await expect.element(page.getByRole('heading')).toHaveTextContent('completed')
    await expect.element(page.getByRole('alert')).toHaveTextContent('')
  })

  test('a trigger that is refused rejects and is shown; the next one is fresh', async () => {
    const { show } = setup(world)
    const rejected = vi.fn()
    const page = await show(<Greeting onReject={rejected} />)
    await page.getByRole('button', { name: 'Greet a number' }).click()
    await expect.element(page.getByRole('alert')).toHaveTextContent('invalid_input')
    await expect.element(page.getByRole('heading')).toHaveTextContent('null false')
    expect(rejected).toHaveBeenCalledOnce()
    await page.getByRole('button', { name: 'Greet', exact: true }).click()
    await expect.element(page.getByRole('heading')).toHaveTextContent('completed false')
    await expect.element(page.getByRole('alert')).toHaveTextContent('')
  })

  test('trigger is always the same function: an effect that calls it calls it once', async () => {
    const { show, calls } = setup(world)
    const page = await show(<GreetsByItself />)
    await expect.element(page.getByRole('heading')).toHaveTextContent('completed')
    // StrictMode runs an effect twice.
    expect(calls.trigger).toBe(2)
  })

  test('useJob begins with the run it is given, or finds one that is active', async () => {
    const { client, show, has } = setup(world)
    const run = await client.trigger('talk', { words: ['one'] })
    await has('running', run)
    const page = await show(
      <>
        <Resumed name="given" initialRunId={run.id} />
        <Resumed name="found" />
      </>,
    )
    await expect.element(page.getByText(`given ${run.id} running`)).toBeVisible()
    await expect.element(page.getByText(/found \w+ running/)).toBeVisible()
    await client.cancel(run.id)
  })

  test('another id is another run, and no id is none', async () => {
    const { client, show, has } = setup(world)
    const [one, two] = [await client.trigger('greet', { name: 'Ada' }), await client.trigger('flaky', {})]
    await has('completed', one)
    await has('failed', two)
    const page = await show(<RunPanel runId={one.id} />)
    await expect.element(page.getByRole('heading')).toHaveTextContent('completed')
    await page.getByRole('button', { name: 'Retry' }).click()
    await expect.element(page.getByRole('alert')).toHaveTextContent('only a failed run can be retried')
    await page.rerender(inside(client, <RunPanel runId={two.id} />))
    await expect.element(page.getByRole('heading')).toHaveTextContent('failed')
    await expect.element(page.getByRole('alert')).toHaveTextContent('not yet')
    await page.rerender(inside(client, <RunPanel runId={null} />))
    await expect.element(page.getByRole('heading')).toHaveTextContent('null null at rest')
  })
})

test('the error of a command for one run is not shown for the run that is shown by then', async () => {
  let fail = (_: Error) => {}
  const retry = () => new Promise<never>((_, reject) => (fail = reject))
  const { client } = watchedClient(clientOf('the page itself'), { retry })
  const [one, two] = [await client.trigger('flaky', {}), await client.trigger('work', { steps: 1 })]
  const page = await render(inside(client, <RunPanel runId={one.id} />))
  await expect.element(page.getByRole('heading')).toHaveTextContent('failed failed at rest')
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.rerender(inside(client, <RunPanel runId={two.id} />))
  await expect.element(page.getByRole('heading')).toHaveTextContent('running')
  fail(new Error('no answer'))
  await client.trigger('go', { runId: two.id })
  await expect.element(page.getByRole('heading')).toHaveTextContent('completed')
  await expect.element(page.getByRole('alert')).toHaveTextContent(/^$/)
})

test('a Stop right after Start that fails is shown for the run that was started, by the first Start and by the next', async () => {
  const cancelled: string[] = []
  const cancel = async (runId: string) => {
    cancelled.push(runId)
    throw new Error('no answer')
  }
  const { client } = watchedClient(clientOf('the page itself'), { cancel })
  const page = await render(inside(client, <Nervous />))
  for (const count of [1, 2]) {
    await page.getByRole('button').click()
    await vi.waitUntil(() => cancelled.length === count)
    await expect.element(page.getByRole('heading')).toHaveTextContent('running true')
    await expect.element(page.getByRole('alert')).toHaveTextContent(`${cancelled.at(-1)}: no answer`)
  }
})

test('a text that is opened while its run, which has ended, is shown already is not done before it was read', async () => {
  const { client, go, has } = setup('the page itself')
  const run = await client.trigger('talk', { words: ['one ', 'two ', 'three'] })
  for (let i = 0; i < 3; i++) await go(run)
  await has('completed', run)
  const texts: string[] = []
  const panel = <RunPanel key="panel" runId={run.id} />
  const answer = (key: string) => <Answer key={key} runId={run.id} onRender={(text) => texts.push(`${key}: ${text}`)} />
  const page = await render(inside(client, [panel]))
  await expect.element(page.getByRole('heading')).toHaveTextContent('completed')
  await page.rerender(inside(client, [panel, answer('first')]))
  await expect.element(page.getByRole('blockquote')).toHaveTextContent(/^one two three\.$/)
  expect(new Set(texts)).toStrictEqual(new Set(['first: …', 'first: one two three.']))
  // Now it is known.
  await page.rerender(inside(client, [panel, answer('second')]))
  await expect.element(page.getByRole('blockquote')).toHaveTextContent(/^one two three\.$/)
  expect(new Set(texts.slice(-2))).toStrictEqual(new Set(['second: one two three.']))
})

test('log lines that are opened while their run is shown already are none, and then all', async () => {
  const { client, go } = setup('the page itself')
  const run = await client.trigger('work', { steps: 3 })
  await go(run)
  for await (const { type } of client.subscribe(run.id)) if (type === 'log:write') break
  const counts: number[] = []
  const panel = <RunPanel key="panel" runId={run.id} />
  const page = await render(inside(client, [panel]))
  await expect.element(page.getByText('step 1, 1 of 3')).toBeVisible()
  // This line comes while nobody has asked for lines.
  await go(run)
  await expect.element(page.getByText('step 2, 2 of 3')).toBeVisible()
  await page.rerender(inside(client, [panel, <Lines key="lines" runId={run.id} onRender={(count) => counts.push(count)} />]))
  await expect.element(page.getByText('info: step 1 is done')).toBeVisible()
  await expect.element(page.getByText('info: step 2 is done')).toBeVisible()
  expect(counts[0]).toBe(0)
  await client.cancel(run.id)
})

test('a server that is away for a while is waited for: the page says so, keeps what it knew, and then has it all', async () => {
  const line = brokenLine()
  const client = httpClient<TestJobs>({ url: inject('durablyUrl'), fetch: line.fetch })
  const helper = clientOf('a server')
  const run = await helper.trigger('talk', { words: ['one ', 'two ', 'three'] })
  const page = await render(
    inside(
      client,
      <>
        <RunPanel runId={run.id} />
        <Answer runId={run.id} />
        <Connection runId={run.id} />
      </>,
    ),
  )
  await expect.element(page.getByRole('blockquote')).toHaveTextContent(/^one …$/)
  await expect.element(page.getByRole('status')).toHaveTextContent('live')
  line.breakDown()
  await expect.element(page.getByRole('status')).toHaveTextContent('reconnecting')
  for (let i = 0; i < 3; i++) await helper.trigger('go', { runId: run.id })
  await vi.waitUntil(async () => (await helper.getRun(run.id))?.status === 'completed', { timeout: 10_000 })
  await expect.element(page.getByRole('heading')).toHaveTextContent('running')
  await expect.element(page.getByRole('blockquote')).toHaveTextContent(/^one …$/)
  line.mend()
  await expect.element(page.getByRole('blockquote')).toHaveTextContent(/^one two three\.$/)
  await expect.element(page.getByRole('heading')).toHaveTextContent('completed completed at rest')
  await expect.element(page.getByRole('status')).toHaveTextContent('idle')
})

/** Like a proxy whose server is gone: what is open breaks, and every request is answered with a page about it. */
function brokenLine() {
  let broken = new AbortController()
  return {
    async fetch(url: string, init: RequestInit) {
      if (broken.signal.aborted)
        return new Response('<html>502 Bad Gateway</html>', { status: 502, headers: { 'content-type': 'text/html' } })
      return fetch(url, { ...init, signal: AbortSignal.any([broken.signal, ...(init.signal ? [init.signal] : [])]) })
    },
    breakDown: () => broken.abort(new TypeError('network error')),
    mend() {
      broken = new AbortController()
    },
  }
}

test('a page that hydrates what a server rendered has nothing to complain about, and comes alive', async () => {
  const { client, go, has } = setup('the page itself')
  const run = await client.trigger('talk', { words: ['one', 'two'] })
  await has('running', run)
  const app = inside(
    client,
    <>
      <RunPanel runId={run.id} />
      <Answer runId={run.id} />
      <RunList />
      <Resumed name="resumed" />
    </>,
  )
  const container = document.body.appendChild(document.createElement('main'))
  container.innerHTML = renderToString(app)
  const complaint = vi.spyOn(console, 'error')
  const root = hydrateRoot(container, app, { onRecoverableError: complaint })
  onTestFinished(() => {
    root.unmount()
    container.remove()
  })
  const page = locators.getByRole('main')
  await expect.element(page.getByRole('blockquote')).toHaveTextContent(/^one…$/)
  await go(run)
  await go(run)
  await expect.element(page.getByRole('heading')).toHaveTextContent('completed')
  await expect.element(page.getByText(`resumed ${run.id} completed`)).toBeVisible()
  expect(complaint).not.toHaveBeenCalled()
})

test('without a provider a hook says what is missing', async () => {
  const silenced = vi.spyOn(console, 'error').mockImplementation(() => {})
  const page = await render(
    <ErrorBoundary>
      <AsksClient />
    </ErrorBoundary>,
  )
  silenced.mockRestore()
  await expect.element(page.getByText('there is no Durably client here; render this component inside <DurablyProvider')).toBeVisible()
})
