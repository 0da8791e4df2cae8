// What is known of a run: from the run and its log, whoever looks, whatever breaks (run-observer.ts, O1–O3).
import { type DurablyClient, DurablyError, localClient, type Run } from '@coji/durably/client'
import { type VirtualEnv, virtualEnv } from '@coji/durably/testing'
import { expect, onTestFinished, test } from 'vitest'
import { Observers } from '../src/observe/observers.ts'
import type { RunState } from '../src/observe/run-state.ts'
import { createTestDurably, type TestJobs } from './jobs.ts'
import { watchedClient } from './watched-client.ts'

type Client = DurablyClient<TestJobs>

interface Options {
  eventLog?: boolean
  differing?: (client: Client, env: VirtualEnv) => Partial<Client>
}

function setup({ eventLog = true, differing = () => ({}) }: Options = {}) {
  const env = virtualEnv()
  const { durably, jobs } = createTestDurably({ env, eventLog })
  const client = localClient<TestJobs>(durably)
  const watched = watchedClient(client, differing(client, env))
  const observers = new Observers(watched.client as unknown as DurablyClient, env)
  durably.start()
  onTestFinished(async () => {
    const stopped = durably.stop({ timeout: 0 })
    await env.advance(2000)
    await stopped
  })
  /** Looks at a run as a component does; `states` are those it was rendered with. */
  const look = (runId: string, { history = false } = {}) => {
    const states: RunState[] = []
    const leave = observers.joinRun(runId, () => states.push(now()), { history })
    const now = () => observers.run(runId)?.state as RunState
    return { leave, now, states, statuses: () => states.map(({ status }) => status), observer: observers.run(runId) }
  }
  const go = async ({ id }: Run) => {
    await jobs.go.trigger({ runId: id })
    await env.advance(100)
  }
  return { env, durably, jobs, observers, look, go, ...watched }
}

/** A run that waits in its first step. */
async function working({ isStubborn = false, ...options }: Options & { isStubborn?: boolean } = {}) {
  const world = setup(options)
  const run = await world.jobs.work.trigger({ steps: 2, isStubborn })
  await world.env.advance(100)
  return { ...world, run }
}

/** One event after the other, as over a network. */
function slowly(client: Client, env: VirtualEnv): Partial<Client> {
  return {
    async *subscribe(runId, options) {
      for await (const event of client.subscribe(runId, options)) {
        await new Promise<void>((resolve) => void env.timer(10, resolve))
        yield event
      }
    },
  }
}

async function failed() {
  const world = setup()
  const run = await world.jobs.flaky.trigger({})
  await world.env.advance(100)
  return { ...world, run }
}

test('a run is shown as it is, then live to its end, with its values', async () => {
  const { env, jobs, look, go } = setup()
  const run = await jobs.work.trigger({ steps: 2 }, { delay: 1000 })
  const seen = look(run.id)
  await env.advance(100)
  expect(seen.now()).toMatchObject({ status: 'pending', connection: 'live', error: null, run: { phase: 'sleeping', startedAt: null } })
  await env.advance(1000)
  expect(seen.now()).toMatchObject({ status: 'running', run: { phase: 'running', startedAt: expect.any(String) } })
  await go(run)
  expect(seen.now().run).toMatchObject({ status: 'running', currentStepIndex: 1, progress: { current: 1, total: 2 } })
  await go(run)
  expect(seen.now()).toMatchObject({ status: 'completed', isAtEnd: true, connection: 'idle', error: null })
  expect(seen.now().run).toMatchObject({ phase: 'completed', output: 2, currentStepIndex: 2, finishedAt: expect.any(String) })
})

test('a log that is replayed from its beginning never shows what the run has left behind (O1)', async () => {
  const { env, run, go, look, observers } = await working({ differing: slowly })
  await go(run)
  await go(run)
  const seen = look(run.id, { history: true })
  await env.advance(1000)
  expect(new Set(seen.statuses())).toStrictEqual(new Set(['completed']))
  expect(observers.run(run.id)?.logs.map(({ message }) => message)).toStrictEqual(['step 1 is done', 'step 2 is done'])
})

test('a run that has ended is read, and without history nothing is subscribed to', async () => {
  const { env, run, go, look, calls } = await working()
  await go(run)
  await go(run)
  const seen = look(run.id)
  await env.advance(100)
  expect(seen.now()).toMatchObject({ status: 'completed', isAtEnd: true })
  expect(calls).toStrictEqual({ getRun: 1 })
})

test('many components share one read and one subscription, also when they come and go at once (O2)', async () => {
  const { env, run, look, calls, open } = await working()
  look(run.id).leave()
  const [one, two] = [look(run.id), look(run.id, { history: true })]
  await env.advance(100)
  look(run.id).leave()
  one.leave()
  await env.advance(5000)
  expect([calls, open()]).toStrictEqual([{ getRun: 1, subscribe: 1 }, 1])
  expect(two.now().status).toBe('running')
})

test('the history is fetched for one who comes later and wants it, and nobody sees the run go back', async () => {
  const { env, jobs, go, look, calls, observers } = setup({ differing: slowly })
  const run = await jobs.work.trigger({ steps: 3 })
  await env.advance(100)
  const seen = look(run.id)
  await go(run)
  await go(run)
  look(run.id, { history: true })
  await env.advance(1000)
  expect(observers.run(run.id)?.logs).toHaveLength(2)
  expect(seen.states.flatMap(({ run }) => run?.currentStepIndex ?? [])).toStrictEqual(
    seen.states.flatMap(({ run }) => run?.currentStepIndex ?? []).toSorted(),
  )
  expect(seen.now().run).toMatchObject({ status: 'running', currentStepIndex: 2 })
  expect(calls.subscribe).toBe(2)
})

test('a run that was just triggered is shown at once and not read again', async () => {
  const { env, jobs, look, calls, observers } = setup()
  const run = await jobs.work.trigger({ steps: 1 }, { delay: 1000 })
  observers.know(run)
  const seen = look(run.id)
  expect(seen.now().status).toBe('pending')
  look(run.id, { history: true })
  await env.advance(100)
  expect(calls).toStrictEqual({ subscribe: 1 })
  await env.advance(1000)
  expect(seen.now().status).toBe('running')
})

test('one that was triggered and that nobody looks at is forgotten', async () => {
  const { env, jobs, observers } = setup()
  const run = await jobs.work.trigger({ steps: 1 })
  observers.know(run)
  await env.advance(2000)
  expect(observers.run(run.id)).toBeUndefined()
})

test('when the last one has left, everything is let go after a moment', async () => {
  const { env, run, look, open, observers } = await working()
  const seen = look(run.id)
  await env.advance(100)
  seen.leave()
  seen.leave()
  await env.advance(900)
  expect([open(), observers.run(run.id)?.state.status]).toStrictEqual([1, 'running'])
  await env.advance(200)
  expect([open(), observers.run(run.id)]).toStrictEqual([0, undefined])
})

test('one that comes back within that moment finds everything as it was', async () => {
  const { env, run, look, calls } = await working()
  const seen = look(run.id)
  await env.advance(100)
  seen.leave()
  await env.advance(900)
  const again = look(run.id)
  expect(again.now().status).toBe('running')
  await env.advance(5000)
  expect(calls).toStrictEqual({ getRun: 1, subscribe: 1 })
})

test('a stream is the same text while it comes, after a break and for one who comes late', async () => {
  const { env, jobs, look, go, fail, observers } = setup()
  const run = await jobs.talk.trigger({ words: ['one ', 'two ', 'three'] })
  look(run.id, { history: true })
  const text = () => observers.run(run.id)?.streams.answer?.text
  await env.advance(100)
  expect(text()).toBe('one ')
  fail('subscribe', new Error('cut'))
  await go(run)
  expect(text()).toBe('one ')
  fail('subscribe', null)
  await env.advance(10_000)
  expect(text()).toBe('one two ')
  await go(run)
  await go(run)
  expect(observers.run(run.id)?.streams.answer).toMatchObject({ text: 'one two three', isDone: true })
})

test('chunks and log lines do not disturb those who look at the run', async () => {
  const { env, jobs, look, go } = setup()
  const run = await jobs.talk.trigger({ words: ['one', 'two', 'three'] })
  const seen = look(run.id, { history: true })
  await env.advance(100)
  const before = seen.now()
  await go(run)
  expect(seen.now()).toBe(before)
})

test('a run that is asked to stop is cancelling until its log says that it has stopped', async () => {
  const { env, run, look, observers, go } = await working({ isStubborn: true })
  const seen = look(run.id)
  await go(run)
  expect(await observers.cancel(run.id)).toBe('requested')
  await env.advance(5000)
  expect(seen.now()).toMatchObject({ status: 'running', isAtEnd: false, run: { phase: 'cancelling', currentStepIndex: 1 } })
  await go(run)
  expect(seen.now()).toMatchObject({ status: 'cancelled', isAtEnd: true, run: { phase: 'cancelled' } })
})

test('what a run failed with is the error; a retry goes on in the same log', async () => {
  const { env, run, look, observers, jobs } = await failed()
  const seen = look(run.id)
  await env.advance(100)
  expect(seen.now()).toMatchObject({ status: 'failed', isAtEnd: true, error: { code: 'run_failed', message: 'not yet' } })
  await jobs.go.trigger({ runId: run.id })
  await env.advance(100)
  await observers.retry(run.id)
  await env.advance(100)
  expect(seen.now()).toMatchObject({ status: 'completed', error: null, run: { output: 'at last' } })
})

test('a retry elsewhere is noticed, and so is a deletion (O3)', async () => {
  const { env, run, look, durably, go } = await failed()
  const seen = look(run.id, { history: true })
  await env.advance(100)
  await go(run)
  await durably.retry(run.id)
  await env.advance(5000)
  expect(seen.now()).toMatchObject({ status: 'completed', error: null })
  await durably.deleteRun(run.id)
  await env.advance(5000)
  expect(seen.now()).toMatchObject({ status: 'gone', run: null, connection: 'idle', error: { code: 'run_deleted' } })
  await env.advance(120_000)
  expect(seen.now().error).toMatchObject({ code: 'run_deleted' })
})

test('a run that has ended is looked at less and less often', async () => {
  const { env, run, look, calls } = await failed()
  const seen = look(run.id)
  await env.advance(100)
  const { length } = seen.states
  await env.advance(600_000)
  expect([calls.getRun, calls.subscribe]).toStrictEqual([13, undefined])
  expect(seen.states).toHaveLength(length)
})

test('an id that no run has is gone from the beginning', async () => {
  const { env, look } = setup()
  const seen = look('nothing')
  await env.advance(100)
  expect(seen.now()).toMatchObject({ status: 'gone', error: { code: 'run_not_found', message: 'there is no run "nothing"' } })
})

test.each(['getRun', 'subscribe'] as const)('when %s fails it is shown, what was known stays, and it recovers', async (method) => {
  const { env, run, go, look, fail } = await working()
  const seen = look(run.id)
  await env.advance(100)
  fail('subscribe', new DurablyError('store_unavailable', 'away'))
  fail(method, new DurablyError('store_unavailable', 'away'))
  await go(run)
  await env.advance(60_000)
  expect(seen.now()).toMatchObject({ connection: 'reconnecting', error: { message: 'away' }, status: 'running', run: { id: run.id } })
  fail('subscribe', null)
  fail(method, null)
  await env.advance(10_000)
  expect(seen.now()).toMatchObject({ connection: 'live', error: null, run: { status: 'running', currentStepIndex: 1 } })
  await go(run)
  expect(seen.now()).toMatchObject({ status: 'completed', connection: 'idle', error: null })
})

test('without an event log the run is read again and again, and the reason is shown', async () => {
  const { env, run, go, look } = await working({ eventLog: false })
  const seen = look(run.id)
  await env.advance(100)
  expect(seen.now()).toMatchObject({ status: 'running', error: { code: 'event_log_off' } })
  await go(run)
  await go(run)
  await env.advance(10_000)
  expect(seen.now()).toMatchObject({ status: 'completed', connection: 'idle', isAtEnd: true, error: null })
})

test('a log that is shorter than it was, as after a restore, is read again from its beginning', async () => {
  const restored = { isOther: false }
  const { env, run, go, look, fail, observers } = await working({
    differing: (client) => ({
      async *subscribe(runId, options) {
        if (restored.isOther && options?.after) throw new DurablyError('cursor_ahead', `after is ${options.after}, but the log ends at 4`)
        yield* client.subscribe(runId, options)
      },
    }),
  })
  look(run.id, { history: true })
  await go(run)
  restored.isOther = true
  fail('subscribe', new Error('cut'))
  fail('subscribe', null)
  await env.advance(10_000)
  expect(observers.run(run.id)?.state).toMatchObject({ status: 'running', error: null })
  expect(observers.run(run.id)?.logs).toHaveLength(1)
})

test('a log that ends before its run did, because it was off for a while, is at its end all the same', async () => {
  const { env, run, go, look, calls } = await working({ differing: () => ({ async *subscribe() {} }) })
  await go(run)
  await go(run)
  const seen = look(run.id, { history: true })
  await env.advance(1000)
  expect([seen.now().isAtEnd, calls.subscribe]).toStrictEqual([true, 1])
})

test('an answer that was overtaken by a newer one does not count', async () => {
  const late: number[] = []
  const { env, run, go, look } = await working({
    isStubborn: true,
    differing: (client, env) => ({
      async getRun(id) {
        const answer = await client.getRun(id)
        await new Promise<void>((resolve) => void env.timer(late.shift() ?? 0, resolve))
        return answer
      },
    }),
  })
  const seen = look(run.id)
  await go(run)
  late.push(5000)
  seen.observer?.look()
  await go(run)
  expect(seen.now().run).toMatchObject({ status: 'completed', finishedAt: expect.any(String) })
  seen.states.length = 0
  await env.advance(5000)
  expect(seen.states).toStrictEqual([])
})

test('a run that is read between two steps counts each of them once', async () => {
  const { env, jobs, go, look } = setup()
  const run = await jobs.work.trigger({ steps: 3 })
  await env.advance(100)
  const seen = look(run.id)
  await go(run)
  seen.observer?.look()
  await go(run)
  expect(seen.now().run).toMatchObject({ status: 'running', currentStepIndex: 2 })
})
