// The dashboard inside the page whose jobs run in it, over a local client.
import { createDurably } from '@coji/durably'
import { localClient } from '@coji/durably/client'
import { memoryStore } from '@coji/durably/memory'
import { createDashboard } from '@coji/durably-ui'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'

const until = <T>(check: () => T) => vi.waitFor(check, { timeout: 20_000 })

function mount(options: Partial<Parameters<typeof createDashboard>[0]> = {}, eventLog = true) {
  const durably = createDurably({ store: memoryStore({ eventLog }), pollingInterval: 50 })
  const greet = durably.defineJob({ name: 'greet', input: z.object({ name: z.string() }) }, (ctx, { name }) =>
    ctx.run('compose', () => `Hello, ${name}!`),
  )
  const dashboard = createDashboard({ client: localClient(durably), ...options })
  document.body.append(dashboard)
  onTestFinished(async () => {
    dashboard.remove()
    await durably.stop()
  })
  const shown = () => dashboard.shadowRoot?.querySelector('main')?.textContent ?? ''
  const press = (selector: string, text: string) => {
    const found = Array.from(dashboard.shadowRoot?.querySelectorAll<HTMLElement>(selector) ?? []).find(({ textContent }) =>
      textContent?.includes(text),
    )
    if (!found) throw new Error(`there is no ${selector} with ${text}`)
    found.click()
  }
  return { durably, greet, dashboard, shown, press }
}

test('shows the runs of the tab live, and leaves the address of the page alone', async () => {
  const { durably, greet, shown, press } = mount()
  const address = location.href
  await until(() => expect(shown()).toContain('No runs yet'))
  durably.start()
  await greet.trigger({ name: 'Ada' })
  await until(() => press('.row', 'greet'))
  await until(() => expect(shown()).toContain('"Hello, Ada!"'))
  expect(location.href).toBe(address)
})

test('pages of schedules, workers and the audit are there when somebody reads them', async () => {
  const paused: string[] = []
  const schedule = {
    id: 'nightly',
    jobName: 'greet',
    cron: '0 3 * * *',
    every: null,
    timezone: 'UTC',
    paused: false,
    nextAt: null,
    lastScheduledFor: null,
  }
  const { shown, press, dashboard } = mount()
  await until(() => expect(dashboard.shadowRoot?.querySelector('nav')?.textContent).not.toContain('Schedules'))
  dashboard.cluster = {
    schedules: { list: async () => [{ ...schedule, paused: paused.length > 0 }], pause: async (id) => paused.push(id) },
    workers: {
      list: async () => [
        { id: 'w-1', state: 'attached', isSilent: true, capacity: 4, running: 2, heartbeatAt: new Date().toISOString(), version: null },
      ],
    },
    leader: async () => ({ workerId: 'w-1', epoch: 7, electedAt: new Date().toISOString(), isLeading: true }),
    audit: {
      list: async () => [
        {
          at: new Date().toISOString(),
          actor: 'ada',
          action: 'run:signal',
          target: { kind: 'run', id: '01X' },
          detail: { name: '<b>go</b>' },
        },
      ],
    },
    settings: { get: async () => ({ dedupeFor: 86_400_000, archiveAfter: null, version: 3, updatedAt: null, updatedBy: null }) },
  }
  await until(() => press('.entry', 'Schedules'))
  await until(() => expect(shown()).toContain('0 3 * * *'))
  press('button', 'Pause')
  await until(() => expect(shown()).toContain('Paused'))
  expect(paused).toEqual(['nightly'])
  press('.entry', 'Workers')
  await until(() => expect(shown()).toContain('w-1 leads, in epoch 7'))
  expect(shown()).toContain('Silent')
  press('.entry', 'Audit')
  await until(() => expect(shown()).toContain('{"name":"<b>go</b>"}'))
  expect(shown()).toMatch(/ada\s+run:signal\s+01X/)
  expect(shown()).toMatch(/dedupeFor\s*1 d.*archiveAfter\s*as each process says/s)
  expect(shown()).not.toMatch(/version|updatedAt/)
})

test('a button of the page says what it did, and what went wrong', async () => {
  let presses = 0
  const press = async () => {
    if (presses++ > 0) throw new Error('no worker to kill')
    return 'The worker was killed.'
  }
  const { dashboard, press: pressButton } = mount({ controls: [{ label: 'Kill', title: 'Kills the worker', press }] })
  const said = () => dashboard.shadowRoot?.querySelector('.toasts')?.textContent
  await until(() => pressButton('button', 'Kill'))
  await until(() => expect(said()).toContain('The worker was killed.'))
  pressButton('button', 'Kill')
  await until(() => expect(said()).toContain('no worker to kill'))
})

test('another client is another world', async () => {
  const first = mount()
  const second = mount()
  await first.greet.trigger({ name: 'one' }, { labels: { of: 'first' } })
  await until(() => expect(first.shown()).toContain('of=first'))
  first.dashboard.client = localClient(second.durably)
  await until(() => expect(first.shown()).toContain('No runs yet'))
})

test('a dashboard that was taken out of the page and put back goes on', async () => {
  const { dashboard, greet, shown, press } = mount()
  await until(() => expect(shown()).toContain('No runs yet'))
  dashboard.remove()
  await greet.trigger({ name: 'Ada' })
  document.body.append(dashboard)
  await until(() => press('.row', 'greet'))
})

test('without an event log a run is shown without its history, and the page says why', async () => {
  const { durably, greet, shown, press } = mount({}, false)
  durably.start()
  await greet.trigger({ name: 'Ada' })
  await until(() => press('.row', 'greet'))
  await until(() => expect(shown()).toContain('"Hello, Ada!"'))
  await until(() => expect(shown()).toContain('The engine keeps no event log (eventLog: false), so there is no timeline.'))
})

test('a job that is defined while the dialog is open can be triggered in it', async () => {
  const durably = createDurably({ store: memoryStore() })
  const dashboard = createDashboard({ client: localClient(durably) })
  document.body.append(dashboard)
  onTestFinished(() => dashboard.remove())
  const text = (selector: string) => dashboard.shadowRoot?.querySelector(selector)?.textContent ?? ''
  await until(() => expect(text('main')).toContain('No runs yet'))
  dashboard.shadowRoot?.querySelector<HTMLElement>('button.primary')?.click()
  await until(() => expect(text('dialog')).toContain('The server lists no jobs that can be triggered yet.'))
  durably.defineJob({ name: 'late', input: z.object({ size: z.number() }) }, async () => null)
  await until(() => expect(text('dialog')).toContain('size'))
})
