// The words are those of explanations that a real engine gives.
import { createDurably, retry } from '@coji/durably'
import { memoryStore } from '@coji/durably/memory'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { causeInWords, remedyInWords } from './explanation.ts'

function world() {
  const store = memoryStore()
  const durably = createDurably({ store, logger: false })
  onTestFinished(() => durably.stop())
  const wait = durably.defineJob({ name: 'wait', input: z.unknown() }, (ctx) => ctx.waitFor('approval'))
  const parent = durably.defineJob({ name: 'parent', input: z.unknown() }, (ctx) => ctx.invoke(wait, null))
  const fail = durably.defineJob({ name: 'fail', input: z.unknown() }, async () => {
    throw new Error('no card')
  })
  const said = async (id: string) => {
    const run = await durably.getRun(id)
    if (!run) throw new Error('there is no such run')
    const explanation = await durably.explain(id)
    return [causeInWords(run, explanation, Date.now()), remedyInWords(explanation, Date.now())]
  }
  return { store, durably, wait, parent, fail, said }
}

test('a run without a worker says to start one', async () => {
  const { wait, said } = world()
  const { id } = await wait.trigger(null)
  expect(await said(id)).toEqual([
    'It is due, but no worker of the answering process executes its job.',
    'Unless another process does so, start a worker that has the job “wait”.',
  ])
})

test('a job that the server does not know is named', async () => {
  const { wait, store } = world()
  const { id } = await wait.trigger(null)
  const other = createDurably({ store, logger: false })
  const explanation = await other.explain(id)
  expect(causeInWords({ status: 'pending', error: null }, explanation, Date.now())).toBe(
    'It is due, but the server that answers this page knows no job of the name “wait”.',
  )
  expect(remedyInWords(explanation, Date.now())).toBe(
    'If the name is right, start a worker that has the job “wait”, unless another process has it. If it is misspelt, cancel the run and trigger the right job.',
  )
})

test('a run that waits for a child says so, and what the child needs', async () => {
  const { durably, parent, said } = world()
  const { id } = await parent.trigger(null)
  await durably.processUntilIdle()
  const [child] = await durably.getRuns({ jobName: 'wait' })
  expect(await said(id)).toEqual([
    'It waits for the run that step “invoke wait” invoked, of job “wait”.',
    `Somebody must send the signal “approval” to run ${child?.id.slice(-8)} of wait, with the button “Signal wait…”.`,
  ])
  expect((await said(child?.id ?? ''))[1]).toBe('Somebody must send the signal “approval”, with the button “Signal…”.')
})

test('a failed run says its error and to retry it', async () => {
  const { durably, fail, said } = world()
  const { id } = await fail.trigger(null)
  await durably.processUntilIdle()
  expect(await said(id)).toEqual(['no card', 'When its reason is gone, retry it, with the button “Retry…”.'])
})

test('a delay says when it is over', async () => {
  const { wait, said } = world()
  const { id } = await wait.trigger(null, { delay: '2h' })
  expect(await said(id)).toEqual(['It starts in 2 h.', 'Nobody has to act: it goes on in 2 h.'])
})

test('a step that is tried again says how often and why it failed', async () => {
  const { durably, said } = world()
  const policy = retry.fixed({ maxAttempts: 3, delay: '2h' })
  const down = () => Promise.reject(new Error('503 from the carrier'))
  const call = durably.defineJob({ name: 'call', input: z.unknown() }, (ctx) => ctx.run('call carrier', { retry: policy }, down))
  const again = durably.defineJob({ name: 'again', input: z.unknown(), retry: policy }, down)
  const [ofStep, ofJob] = [await call.trigger(null), await again.trigger(null)]
  await durably.processUntilIdle()
  const remedy = 'It is tried again in 2 h; nobody has to act unless the error stays.'
  expect(await said(ofStep.id)).toEqual([
    'Step “call carrier” failed and is tried again in 2 h. It failed with “503 from the carrier”.',
    remedy,
  ])
  expect(await said(ofJob.id)).toEqual([
    'Its last attempt failed; it is tried again in 2 h. It failed with “503 from the carrier”.',
    remedy,
  ])
})

test('a run whose key is held by one that sleeps says what frees the key, and one that sleeps itself that nobody has to act', async () => {
  const { durably, said } = world()
  const nap = durably.defineJob({ name: 'nap', input: z.unknown() }, (ctx) => ctx.sleep('month', '30d'))
  const holder = await nap.trigger(null, { concurrencyKey: 'customer-17', holdKey: true })
  await durably.processUntilIdle()
  const { id } = await nap.trigger(null, { concurrencyKey: 'customer-17' })
  const [cause, remedy] = await said(id)
  expect(cause).toBe('Another run holds its concurrency key.')
  expect(remedy).toMatch(
    /^It goes on by itself when that run has ended, not before .* \(in 30 d\)\. To free the key sooner, cancel that run, which ends it\.$/,
  )
  expect((await said(holder.id))[1]).toBe('Nobody has to act: it goes on in 30 d.')
})
