// A tab that the browser has frozen, page and workers, for longer than its lease.
import { expect, test } from 'vitest'
import { type BareTab, bareTabs } from './bare-tabs.ts'
import type { Told } from './pages/counting.ts'
import { SHORT_LEASE } from './stage.ts'

const STEPS = 20
const PATIENCE = { timeout: 60_000 }

const textsOf = ({ told }: BareTab, what: Told['what']) => told.filter((one) => one.what === what).map(({ text }) => text)
const capabilities = (tab: BareTab) => tab.evaluate(() => counting.capabilities(), null)
const run = (tab: BareTab, id: string) => tab.evaluate((id) => counting.run(id), id)
const completed = (tab: BareTab, id: string) => expect.poll(() => run(tab, id), PATIENCE).toMatchObject({ status: 'completed' })
const trigger = (tab: BareTab) => tab.evaluate((steps) => counting.trigger({ steps, bytes: 10, pauseMs: 100 }), STEPS)

async function opened(open: () => Promise<BareTab>): Promise<BareTab> {
  const tab = await open()
  await expect.poll(() => tab.evaluate(() => globalThis.counting !== undefined, null), PATIENCE).toBe(true)
  await tab.evaluate((options) => counting.open(options), SHORT_LEASE)
  return tab
}

async function start(tab: BareTab, state: 'leading' | 'waiting'): Promise<void> {
  await tab.evaluate(() => counting.start(), null)
  await expect.poll(() => textsOf(tab, 'lead'), PATIENCE).toEqual([state])
}

const hasRecorded = (tab: BareTab, steps: number) =>
  expect.poll(() => textsOf(tab, 'recorded').length, { ...PATIENCE, interval: 20 }).toBeGreaterThanOrEqual(steps)

/** At a moment when it does not use the file: frozen in the middle of a write it would keep everybody out. */
async function freezeBetweenWrites(tab: BareTab, other: BareTab): Promise<void> {
  const isUsed = () =>
    other.evaluate(
      async (name) => ((await navigator.locks.query()).held ?? []).some((lock) => lock.name === name),
      'durably:durably.sqlite3',
    )
  for (;;) {
    await tab.freeze()
    if (!(await isUsed())) return
    await tab.thaw()
    await hasRecorded(tab, textsOf(tab, 'recorded').length + 1)
  }
}

/** The frozen one was replaced and its run has ended; it wakes up. */
async function wakesAsWaiting(frozen: BareTab, other: BareTab, id: string): Promise<void> {
  expect(textsOf(other, 'lead')).toEqual(['waiting', 'leading'])
  const acknowledged = textsOf(frozen, 'recorded')
  await frozen.thaw()
  await expect.poll(() => textsOf(frozen, 'lead'), PATIENCE).toEqual(['leading', 'waiting'])
  expect(await capabilities(frozen)).toMatchObject({ executes: false })
  expect(await capabilities(other)).toMatchObject({ executes: true })
  expect(textsOf(frozen, 'recorded')).toEqual(acknowledged)
  expect(textsOf(other, 'executed').filter((step) => acknowledged.includes(step))).toEqual([])
  expect(await frozen.evaluate((id) => counting.steps(id), id)).toEqual(Array.from({ length: STEPS }, (_, i) => `step ${i}`))
}

test('sqlocal: a tab that executes and is frozen is replaced, writes nothing when it wakes, and follows', async () => {
  const open = await bareTabs('frozen', 'sqlocal')
  const frozen = await opened(open)
  await start(frozen, 'leading')
  const other = await opened(open)
  await start(other, 'waiting')
  const id = await trigger(other)
  await hasRecorded(frozen, 2)
  await freezeBetweenWrites(frozen, other)
  await completed(other, id)
  await wakesAsWaiting(frozen, other, id)
})

test('browserDialect: a tab that executes and is frozen is replaced by the one that has the database', async () => {
  const open = await bareTabs('frozen', 'browser')
  const host = await opened(open)
  const frozen = await opened(open)
  await start(frozen, 'leading')
  await start(host, 'waiting')
  const id = await trigger(host)
  await hasRecorded(frozen, 2)
  expect(await capabilities(frozen)).toMatchObject({ role: 'guest', executes: true })
  await frozen.freeze()
  await completed(host, id)
  await wakesAsWaiting(frozen, host, id)
})

test('browserDialect: a frozen tab that has the database keeps it: the others say so, wait, and go on when it wakes', async () => {
  const open = await bareTabs('frozen', 'browser')
  const host = await opened(open)
  await start(host, 'leading')
  const guest = await opened(open)
  await start(guest, 'waiting')
  const id = await trigger(guest)
  await hasRecorded(host, 5)
  await host.freeze()
  await expect.poll(() => textsOf(guest, 'error'), PATIENCE).toEqual([expect.stringContaining('frozen')])
  expect(await capabilities(guest)).toMatchObject({ role: 'host-frozen', executes: false })
  await expect(run(guest, id)).rejects.toThrow('frozen')
  expect(textsOf(guest, 'error')).toHaveLength(1)
  await host.thaw()
  await completed(guest, id)
})
