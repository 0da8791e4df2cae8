// C. Streams: whatever cuts them, a reader ends with the same text, and a slow one costs the others nothing.
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { textOf } from '../tests/rig/transcript.ts'
import { until } from '../tests/rig/until.ts'
import { bound } from './any-instance.ts'
import { numbered, type Stage } from './stage.ts'

const MIB = 1024 * 1024

/** C20: processes do not tell each other of changes, and find them by polling. */
export function streamsWithoutNotifications(stage: () => Stage): void {
  cutStreams(stage)
  test('how long a word takes to the reader, by polling', () => latency(stage(), 1, 350, 500))
}

export function streams(stage: () => Stage): void {
  cutStreams(stage)

  test('C18 the load balancer answers 502 for five seconds: the page says so, and comes back by itself', async () => {
    const { client, proxy, timed } = bound(stage())
    const session = await client.newSession()
    const run = await client.send(session, '!slow 120 c18')
    const page = await stage().openSession(session)
    await page.getByText('word-3 ').first().waitFor()
    proxy.beginOutage()
    await page.getByText('Reconnecting…').waitFor()
    expect(await page.locator('.pill').first().textContent()).toBe('Working')
    await pause(5000)
    proxy.endOutage()
    const began = performance.now()
    await page.getByText('Reconnecting…').waitFor({ state: 'detached' })
    timed('C18 connected again after', performance.now() - began, 5500)
    expect(textOf(await client.follow(run))).toBe(numbered(120))
    await page.close()
  })

  test('C19 cursors: all, none, ahead and nonsense', async () => {
    const { client } = stage()
    const run = await client.send(await client.newSession(), '!fast 3')
    await client.follow(run)
    const { last_seq } = await client.run(run)
    const answer = async (cursor: string) =>
      (await client.request('GET', `/runs/${run}/events`, { headers: { 'Last-Event-ID': cursor } }).catch(() => ({ status: 200 }))).status
    expect(await Promise.all(['0', last_seq, last_seq + 1, 'abc', '-1', '1e30'].map((cursor) => answer(String(cursor))))).toEqual([
      200, 204, 409, 400, 400, 400,
    ])
  })

  test.each([
    [1, 80, 150],
    [20, 300, 500],
    [60, 500, 900],
  ])('C22 how long a word takes to the reader, with %i runs at once', (count, p50Max, p95Max) => latency(stage(), count, p50Max, p95Max))

  test('C23 a reader that takes 1 KB a second does not make the server hold the log', async () => {
    const { client, fleet, counted } = bound(stage())
    const session = await client.newSession()
    const run = await client.send(session, '!huge 15')
    await client.follow(run)
    const [api] = fleet.apis
    if (!api) throw new Error('there is no server')
    // What it needs for a moment to send the log at all is not what it holds for a slow reader.
    for (let i = 0; i < 5; i++) await (await fetch(`${api.url}/api/runs/${run}/events`)).text()
    const before = api.residentMemory()
    const socket = connect(api.port, '127.0.0.1', () => socket.write(`GET /api/runs/${run}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`))
    socket.on('readable', () => {})
    let read = 0
    for (let second = 0; second < 20; second++) {
      read += (socket.read(1024) as Buffer | null)?.length ?? 0
      await pause(1000)
    }
    const grown = api.residentMemory() - before
    socket.destroy()
    expect(read).toBeGreaterThan(10_000)
    counted('C23 memory of the server for a slow reader of 1 MB, in KiB', Math.round(grown / 1024))
    expect(grown).toBeLessThan(20 * MIB)
  })

  test('C24 five megabytes of output of a tool: events stay small, and the whole output can be read', async () => {
    const { client, fleet, counted } = bound(stage())
    const session = await client.newSession()
    let largest = 0
    const run = await client.send(session, 'run: printf "%5000000s" x')
    const { done } = await client.follow(run, {
      onEvent: (event) => {
        largest = Math.max(largest, Buffer.byteLength(JSON.stringify(event)))
      },
    })
    expect(done).toBe('completed')
    counted('C24 largest event, in bytes', largest)
    expect(largest).toBeLessThan(64 * 1024)
    const rows = await fleet.query<{ bytes: number }>('SELECT max(length(payload)) AS bytes FROM run_events WHERE run_id = $1', [run])
    expect(rows[0]?.bytes).toBeLessThan(64 * 1024)
    const { messages } = await client.session(session)
    const [result] = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_result'))
    expect(result).toMatchObject({ truncated: true, artifact: { bytes: expect.any(Number) } })
    const whole = await fetch(`${fleet.apiUrls[1]}/api/artifacts/${result?.artifact?.id}`)
    expect(await whole.text()).toBe('x'.padStart(5_000_000))
  })

  test('C25 two tabs show the same, and the eighth tab of a browser opens as the first', async () => {
    const { client, timed } = bound(stage())
    const session = await client.newSession()
    const run = await client.send(session, '!slow 100 c25')
    const pages: Page[] = []
    for (let tab = 1; tab <= 8; tab++) {
      const began = performance.now()
      const page = await stage().openSession(session)
      pages.push(page)
      await page.getByText('word-1 ').first().waitFor()
      if (tab > 1) await hide(pages[tab - 2])
      if (tab === 8) timed('C25 the eighth tab shows the answer after', performance.now() - began, 2000)
    }
    expect(textOf(await client.follow(run))).toBe(numbered(100))
    const texts = new Set<string>()
    for (const page of [pages[0], pages[7]]) {
      await show(page)
      await page?.locator('.pill', { hasText: 'Ready' }).first().waitFor()
      texts.add((await page?.getByRole('article', { name: 'Answer' }).locator('.markdown').allTextContents())?.join('') ?? '')
    }
    expect([...texts].map((text) => text.trim())).toEqual([numbered(100).trim()])
    await Promise.all(pages.map((page) => page.close()))
    await until(async () => (await client.session(session)).active_runs.length === 0)
  })
}

/** C15 to C17: readers whose streams are cut, and whose servers are killed. */
function cutStreams(stage: () => Stage): void {
  test('C15 a stream that is cut after every seven events, and goes on at the other server, is complete', async () => {
    const { client, proxy, counted } = bound(stage())
    const before = proxy.figures.cuts
    proxy.cutStreamsAfter(7)
    try {
      const run = await client.send(await client.newSession(), '!slow 80 c15')
      const transcript = await client.follow(run)
      expect([transcript.done, textOf(transcript)]).toEqual(['completed', numbered(80)])
      const cuts = proxy.figures.cuts - before
      expect(cuts).toBeGreaterThan(3)
      counted('C15 cuts', cuts)
    } finally {
      proxy.cutStreamsAfter(Number.POSITIVE_INFINITY)
    }
  })

  test('C16 C17 both servers are killed in the middle and come back: a program and a page end with the whole text', async () => {
    const { client, fleet, proxy, counted } = bound(stage())
    const session = await client.newSession()
    const run = await client.send(session, '!slow 100 c16')
    const page = await stage().openSession(session)
    await page.getByText('word-5 ').first().waitFor()
    const before = proxy.figures.requests
    const followed = client.follow(run)
    await fleet.killApis()
    await page.getByText('Reconnecting…').waitFor()
    await pause(1000)
    await fleet.restartApis()
    const transcript = await followed
    expect([transcript.done, textOf(transcript)]).toEqual(['completed', numbered(100)])
    await page.locator('.pill', { hasText: 'Ready' }).first().waitFor()
    const shown = (await page.getByRole('article', { name: 'Answer' }).locator('.markdown').allTextContents()).join('')
    expect(shown.trim()).toBe(numbered(100).trim())
    counted('C16 requests of both readers meanwhile', proxy.figures.requests - before)
    await page.close()
  })
}

/** How long a word takes from the model's server to the reader. */
async function latency(stage: Stage, count: number, p50Max: number, p95Max: number): Promise<void> {
  const { client, timed, counted } = bound(stage)
  const sessions = await Promise.all(Array.from({ length: count }, () => client.newSession()))
  const delays: number[] = []
  const first: number[] = []
  const answers = await Promise.all(
    sessions.map(async (session) => {
      const began = Date.now()
      let isFirst = true
      const run = await client.send(session, '!clock 150 20')
      return client.follow(run, {
        onEvent(event) {
          if (event.type !== 'text' || event.step_id !== 'model-0-1' || (event.at === 0 && !isFirst)) return
          if (isFirst) first.push(Date.now() - began)
          isFirst = false
          for (const word of event.content.trim().split(' ')) delays.push(Date.now() - Number(word))
        },
      })
    }),
  )
  expect(answers.map(({ done }) => done)).toEqual(Array(count).fill('completed'))
  for (const answer of answers) expect(textOf(answer).trim().split(' ')).toHaveLength(150)
  const name = `C22 with ${count} runs`
  timed(`${name}: word to reader, p50`, quantile(delays, 0.5), p50Max)
  timed(`${name}: word to reader, p95`, quantile(delays, 0.95), p95Max)
  counted(`${name}: first word, p50 in ms`, quantile(first, 0.5))
  counted(`${name}: first word, p95 in ms`, quantile(first, 0.95))
}

/** A headless browser takes every tab for visible, so the page is told. */
async function setVisibility(page: Page | undefined, state: 'hidden' | 'visible'): Promise<void> {
  await page?.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
    Object.defineProperty(document, 'hidden', { value: state === 'hidden', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)
}

const hide = (page: Page | undefined) => setVisibility(page, 'hidden')
const show = (page: Page | undefined) => setVisibility(page, 'visible')

function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((x, y) => x - y)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}
