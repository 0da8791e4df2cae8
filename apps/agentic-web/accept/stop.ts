// D. Stop stops: on another server, while queued, in a tool, while the model is silent, after a reload.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { textOf } from '../tests/rig/transcript.ts'
import { until } from '../tests/rig/until.ts'
import { bound } from './any-instance.ts'
import { numbered, type Stage } from './stage.ts'

export function stop(stage: () => Stage): void {
  test('D26 asked of one server, followed on the other: it stops, and what was said is kept', async () => {
    const { a, b, client, timed } = bound(stage())
    const session = await client.newSession()
    const run = await a.send(session, '!slow 300 d26')
    let askedAt = 0
    const transcript = await a.follow(run, {
      onEvent(event) {
        if (askedAt > 0 || event.type !== 'text' || !event.content.includes('word-5 ')) return
        askedAt = performance.now()
        void b.request('POST', `/runs/${run}/cancel`)
      },
    })
    timed('D26 stopped after', performance.now() - askedAt, 1500)
    expect(transcript.done).toBe('cancelled')
    const [answer] = (await client.session(session)).messages.filter(({ interrupted }) => interrupted)
    const [part] = answer?.parts ?? []
    expect(part).toMatchObject({ type: 'text', text: expect.stringMatching(/^word-1 word-2 word-3 word-4 word-5 /) })
  })

  test('D27 stopped while it is queued and there is no worker: it ends at once, and never starts', async () => {
    const { client, fleet, timed } = bound(stage())
    const start = await fleet.withoutWorkers()
    const run = await client.send(await client.newSession(), '!fast 3')
    const began = performance.now()
    expect((await client.request('POST', `/runs/${run}/cancel`)).status).toBe(202)
    expect((await client.follow(run)).done).toBe('cancelled')
    timed('D27 stopped after', performance.now() - began, 300)
    await start()
    expect((await client.follow(await client.send(await client.newSession(), '!fast 3'))).done).toBe('completed')
    expect(await client.run(run)).toMatchObject({ status: 'cancelled', started_at: null })
  })

  test('D28 stopped while a tool sleeps, and while the model is silent: both end, and the model’s server sees it', async () => {
    const { client, fleet, timed } = bound(stage())
    const stopAt = async (message: string, isNow: (type: string) => boolean) => {
      const run = await client.send(await client.newSession(), message)
      let askedAt = 0
      const transcript = await client.follow(run, {
        onEvent(event) {
          if (askedAt > 0 || !isNow(event.type === 'step_start' ? event.kind : event.type)) return
          askedAt = performance.now()
          void client.request('POST', `/runs/${run}/cancel`)
        },
      })
      expect(transcript.done).toBe('cancelled')
      return performance.now() - askedAt
    }
    timed('D28 stopped in a tool after', await stopAt('run: sleep 60', (type) => type === 'tool'), 2000)
    timed('D28 stopped at a silent model after', await stopAt('!stall d28', (type) => type === 'text'), 2000)
    await until(async () => (await fleet.requests()).some(({ asked, aborted }) => asked === '!stall d28' && aborted))
  })

  test('D30 stopped after a reload of the page; the next message is accepted at once and answered after', async () => {
    const { client, timed } = bound(stage())
    const session = await client.newSession()
    const run = await client.send(session, '!slow 300 d30')
    const page = await stage().openSession(session)
    await page.getByText('word-3 ').first().waitFor()
    await page.reload()
    await page.getByText('word-5 ').first().waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    const began = performance.now()
    await pause(50)
    const next = await client.send(session, '!fast 5')
    await page.getByText('Stopped').first().waitFor()
    timed('D30 the page says that it stopped after', performance.now() - began, 2000)
    expect(textOf(await client.follow(next))).toBe(numbered(5))
    const [stopped, answered] = await Promise.all([client.run(run), client.run(next)])
    expect(stopped.status).toBe('cancelled')
    expect(Date.parse(answered.started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(stopped.finished_at ?? ''))
    expect((await client.request('POST', `/runs/${run}/cancel`)).status).toBe(409)
    await page.close()
  })
}
