// Where a dialect says which instance leads: one executes, and whoever follows goes on at once with what is left.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { DurablyOptions } from '../../src/config.ts'
import { createDurably, type Durably } from '../../src/durably.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import type { Leadership, Term } from '../../src/store/leadership.ts'
import { REAP_MAX } from '../../src/store/runs.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { gate } from './gate.ts'

/** What a Web Lock does, among the instances of this process. */
class FakeLeaderLock implements Leadership {
  readonly #queue: (() => void)[] = []
  #term: AbortController | null = null

  async take(signal: AbortSignal): Promise<Term | null> {
    while (this.#term && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#queue.push(resolve)
        signal.addEventListener('abort', () => resolve())
      })
    }
    return signal.aborted ? null : this.#begin(true)
  }

  async takeIfFree(): Promise<Term | null> {
    return this.#term ? null : this.#begin(true)
  }

  /** Another instance steals the lead: the term of the leader ends. */
  steal(): void {
    const former = this.#term
    this.#free()
    former?.abort()
  }

  #begin(inherits: boolean): Term {
    const term = new AbortController()
    this.#term = term
    return { inherits, ended: term.signal, release: () => this.#term === term && this.#free() }
  }

  #free(): void {
    this.#term = null
    for (const wake of this.#queue.splice(0)) wake()
  }
}

async function setup(options: DurablyOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'durably-leading-'))
  const env = virtualEnv()
  const lock = new FakeLeaderLock()
  const instances: Durably[] = []
  const open = (options: DurablyOptions = {}, leadership: Leadership = lock) => {
    const dialect = Object.assign(sqlite(join(directory, 'durably.db')), {
      openLeadership: () => leadership,
      defaults: { staleThreshold: 1000 },
    })
    const durably = createDurably({ dialect, env, staleThreshold: 600_000, ...options })
    instances.push(durably)
    return durably
  }
  onTestFinished(async () => {
    for (const instance of instances) {
      const stopped = instance.stop({ timeout: 0 })
      await env.advance(2000)
      await stopped
    }
    rmSync(directory, { recursive: true, force: true })
  })
  const durably = open(options)
  await durably.migrate()
  return { env, lock, durably, open }
}

function define(durably: Durably, run: (signal: AbortSignal) => unknown = () => {}) {
  return durably.defineJob({ name: 'job', input: z.unknown() }, (ctx) => ctx.run('step', async () => void (await run(ctx.signal))))
}

test('of two that were started one executes; when it has stopped, the other does', async () => {
  const { env, durably, open } = await setup()
  const other = open()
  const told: string[] = []
  durably.on('worker:lead', ({ state }) => told.push(`first ${state}`))
  other.on('worker:lead', ({ state }) => told.push(`other ${state}`))
  const ran: string[] = []
  const job = define(durably, () => ran.push('first'))
  define(other, () => ran.push('other'))
  durably.start()
  await env.advance(1)
  other.start()
  await job.trigger(null)
  await env.advance(5000)
  expect(ran).toEqual(['first'])
  expect([(await durably.capabilities()).executes, (await other.capabilities()).executes]).toEqual([true, false])
  await durably.stop()
  await job.trigger(null)
  await env.advance(5000)
  expect(ran).toEqual(['first', 'other'])
  expect(told).toEqual(['first leading', 'other waiting', 'other leading'])
})

test('a lead that cannot be asked for is reported, and asked for again', async () => {
  const { env, lock, durably, open } = await setup()
  await durably.stop()
  let failures = 2
  const takeIfFree = () => (failures-- > 0 ? Promise.reject(new Error('not loaded')) : lock.takeIfFree())
  const other = open({}, { take: (signal) => lock.take(signal), takeIfFree })
  const errors: string[] = []
  other.on('worker:error', ({ error }) => errors.push(error))
  let runs = 0
  const job = define(other, () => runs++)
  await job.trigger(null)
  await expect(other.processOne()).rejects.toThrow('not loaded')
  other.start()
  await env.advance(5000)
  expect(errors).toEqual(['not loaded'])
  expect(runs).toBe(1)
})

test('who follows takes back at once what is left running, and what an old one still writes is refused', async () => {
  const { env, lock, durably, open } = await setup()
  const released = gate()
  const job = define(durably, () => released.opened)
  durably.start()
  const { id } = await job.trigger(null)
  await env.advance(1000)
  expect(await durably.getRun(id)).toMatchObject({ status: 'running' })
  const heir = open()
  define(heir)
  heir.start()
  lock.steal()
  await env.advance(1000)
  expect(await heir.getRun(id)).toMatchObject({ status: 'completed' })
  expect(await heir.getSteps(id)).toHaveLength(1)
  released.open()
  await env.advance(1000)
  expect(await heir.getSteps(id)).toHaveLength(1)
})

test('who was former asks its runs to stop, gives back those that do, and queues again', async () => {
  const { env, lock, durably, open } = await setup()
  const reasons: unknown[] = []
  const hangs = (signal: AbortSignal) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason)
        reject(signal.reason)
      }),
    )
  const job = define(durably, hangs)
  durably.start()
  const { id } = await job.trigger(null)
  await env.advance(1000)
  const other = open()
  lock.steal()
  await env.advance(2000)
  expect(reasons).toMatchObject([{ code: 'shutdown' }])
  // Nobody else wanted to lead: it does so again.
  expect(await other.getRun(id)).toMatchObject({ status: 'running', error: null })
  expect(await durably.capabilities()).toMatchObject({ executes: true })
})

test('a run whose function does not stop keeps the lead until its lease is over', async () => {
  const { env, durably, open } = await setup()
  const job = define(durably, () => new Promise(() => {}))
  durably.start()
  const { id } = await job.trigger(null)
  await env.advance(1000)
  const stopped = durably.stop({ timeout: 10 })
  await env.advance(2000)
  await stopped
  const heir = open()
  define(heir)
  heir.start()
  await env.advance(500_000)
  expect(await heir.getRun(id)).toMatchObject({ status: 'running' })
  await env.advance(120_000)
  expect(await heir.getRun(id)).toMatchObject({ status: 'completed' })
})

test('processUntilIdle() leads while it works, with all its lanes; beside a leader it finds nothing to do', async () => {
  const { env, durably, open } = await setup()
  let running = 0
  const job = define(durably, () => {
    running++
  })
  const both = open({ concurrency: 2 })
  define(both, () => {
    running++
  })
  for (let i = 0; i < 5; i++) await job.trigger(null)
  expect(await both.processUntilIdle()).toBe(5)
  expect(running).toBe(5)
  durably.start()
  await env.advance(1)
  await job.trigger(null)
  expect(await both.processOne()).toBe(false)
})

test('a lease is as long as the dialect prefers, unless the user says otherwise', async () => {
  const { env, durably, open } = await setup()
  const job = define(durably, () => new Promise(() => {}))
  const { id } = await job.trigger(null)
  const leaseOf = async (instance: Durably) => {
    define(instance, () => new Promise(() => {}))
    instance.start()
    await env.advance(1)
    const { leaseExpiresAt } =
      (await durably.db.selectFrom('runs').select('lease_expires_at as leaseExpiresAt').where('id', '=', id).executeTakeFirst()) ?? {}
    const stopped = instance.stop({ timeout: 0 })
    await env.advance(601_000)
    await stopped
    return (leaseExpiresAt ?? 0) - env.wall() + 601_000
  }
  expect(await leaseOf(open({ staleThreshold: undefined as unknown as number }))).toBeLessThanOrEqual(1000)
  expect(await leaseOf(open())).toBeGreaterThan(590_000)
})

test('who is stopped while it lets go of its runs does not queue again', async () => {
  const { env, lock, durably, open } = await setup()
  const job = define(
    durably,
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => env.timer(300, () => resolve(null)))),
  )
  durably.start()
  await job.trigger(null)
  await env.advance(1000)
  const other = open()
  other.start()
  await env.advance(1000)
  lock.steal()
  await env.advance(100)
  let isStopped = false
  void durably.stop().then(() => {
    isStopped = true
  })
  await env.advance(2000)
  expect(isStopped).toBe(true)
  expect(await other.capabilities()).toMatchObject({ executes: true })
})

test('a lead that comes when nobody wants it any more is given back', async () => {
  const { env, lock, durably, open } = await setup()
  const answer = gate()
  const slow: Leadership = {
    take: (signal) => lock.take(signal),
    takeIfFree: () => answer.opened.then(() => lock.takeIfFree()),
  }
  const late = open({}, slow)
  late.start()
  await env.advance(10)
  const stopped = late.stop({ timeout: 0 })
  await env.advance(1000)
  await stopped
  // It has kept its place for a lease, in case that a function does not stop.
  await env.advance(600_000)
  answer.open()
  await env.advance(1000)
  durably.start()
  await env.advance(1000)
  expect(await durably.capabilities()).toMatchObject({ executes: true })
})

test('what was claimed after the heir looked, or while its term became doubtful, is not taken back', async () => {
  const { env, lock, durably, open } = await setup()
  const job = define(durably, () => new Promise(() => {}))
  durably.start()
  const { id } = await job.trigger(null)
  await env.advance(1000)
  // It still inherits when it is asked first, and no more when it knows what is left.
  const doubtful = inheritsFor(1)
  const heir = open({}, doubtful)
  define(heir)
  expect(await heir.processOne()).toBe(false)
  expect(doubtful.asked).toBeGreaterThan(1)
  expect(await heir.getRun(id)).toMatchObject({ status: 'running', recoveries: 0 })
  lock.steal()
})

test('an heir whose term becomes doubtful between two reaps leaves the rest to the next leader', async () => {
  const { env, lock, durably, open } = await setup({ concurrency: REAP_MAX + 5 })
  const job = define(durably, () => new Promise(() => {}))
  durably.start()
  await job.batchTrigger(Array.from({ length: REAP_MAX + 5 }, () => ({ payload: null })))
  await env.advance(1000)
  // It is asked before it reads what is left, and before each reap.
  const heir = open({}, inheritsFor(2))
  define(heir)
  await heir.processOne()
  expect(await durably.getRuns({ status: 'running' })).toHaveLength(5)
  lock.steal()
})

/** A term that inherits as often as this when it is asked, and no more then. */
function inheritsFor(times: number): Leadership & { asked: number } {
  const doubtful = {
    asked: 0,
    take: () => Promise.resolve(null),
    takeIfFree: async () => ({
      get inherits() {
        return doubtful.asked++ < times
      },
      ended: new AbortController().signal,
      release() {},
    }),
  }
  return doubtful
}
