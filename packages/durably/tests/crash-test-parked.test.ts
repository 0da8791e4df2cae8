// The crash test for jobs that wait: sleeps, signals, decisions, children and retries, and what it says when nobody answers.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../src/durably.ts'
import { ENGINE } from '../src/engine.ts'
import type { Env } from '../src/model/env.ts'
import type { JobContext } from '../src/model/job.ts'
import { retry } from '../src/model/retry-policy.ts'
import { sqlite } from '../src/sqlite/index.ts'
import { sqlStore } from '../src/store/sql/sql-store.ts'
import { crashTest } from '../src/testing/index.ts'

const nothing = z.object({})

function job(run: (ctx: JobContext) => unknown) {
  return (durably: Durably) => durably.defineJob({ name: 'job', input: nothing }, run)
}

const returnsOne = job(() => 1)

describe('a job that waits survives every fault at every boundary', () => {
  test('with sleeps of any length', async () => {
    const define = job(async (ctx) => {
      const before = await ctx.run('before', () => 1)
      await ctx.sleep('trial period', '14d')
      await ctx.sleep('year', '365d')
      return before + (await ctx.run('after', () => 2))
    })
    const report = await crashTest(define, {})
    expect(String(report)).toContain('survives all')
    expect(report.boundaries).toStrictEqual([
      ...['claim', 'step "before"', 'park'],
      ...['claim #2', 'step "trial period"', 'park #2'],
      ...['claim #3', 'step "year"', 'step "after"', 'complete'],
    ])
    expect(report.notReached).toStrictEqual([])
  })

  test('on the SQL store', async () => {
    const openStore = (env: Env) => sqlStore({ dialect: sqlite(':memory:'), env })
    const define = job(async (ctx) => {
      await ctx.sleepUntil('new year', Date.UTC(2030, 0, 1))
      return ctx.waitFor('approval')
    })
    expect(String(await crashTest(define, {}, { openStore, signals: { approval: 'yes' } }))).toContain('survives all')
  })

  test('with signals that are answered, and one that times out', async () => {
    const seen: unknown[] = []
    const define = job(async (ctx) => {
      const { ok } = await ctx.waitFor('approval', { schema: z.object({ ok: z.boolean() }), timeout: '7d' })
      const late = await ctx.waitFor('late', { timeout: '30d' }).catch((error: Error & { code: string }) => error.code)
      seen.push(late)
      return ctx.run('ship', () => ({ ok, late }))
    })
    const report = await crashTest(define, {}, { signals: { approval: { ok: true } } })
    expect(String(report)).toContain('survives all')
    expect(seen).toContain('wait_timeout')
  })

  test('with an answer that comes at once, also if the definition takes its time', async () => {
    const waits: number[] = []
    const define = async (durably: Durably, env: Env) => {
      await new Promise((resolve) => setTimeout(resolve, 3))
      return job(async (ctx) => {
        const asked = await ctx.run('ask', () => env.mono())
        await ctx.waitFor('approval', { timeout: '7d' })
        waits.push(await ctx.run('answered', () => env.mono() - asked))
      })(durably)
    }
    expect(String(await crashTest(define, {}, { signals: { approval: true } }))).toContain('survives all')
    // A lease or two pass until a lost run is taken over.
    expect(Math.max(...waits)).toBeLessThan(180_000)
  })

  test('with signals in parallel with steps, and one that carries nothing', async () => {
    const define = job(async (ctx) => {
      const [go, step] = await Promise.all([ctx.waitFor('go'), ctx.run('beside', () => 'beside')])
      return [go ?? null, step]
    })
    expect(String(await crashTest(define, {}, { signals: { go: undefined } }))).toContain('survives all')
  })

  test('with children, which wait as well', async () => {
    const define = (durably: Durably) => {
      const child = durably.defineJob({ name: 'child', input: z.number() }, async (ctx, n) => {
        await ctx.sleep('nap', '1d')
        return n + ((await ctx.waitFor('more')) as number)
      })
      return durably.defineJob({ name: 'parent', input: nothing }, async (ctx) => {
        const first = await ctx.invoke(child, 1)
        await ctx.trigger(child, 2, { name: 'aside' })
        return first
      })
    }
    const report = await crashTest(define, {}, { signals: { more: 10 } })
    expect(String(report)).toContain('survives all')
    expect(report.boundaries).toEqual(expect.arrayContaining(['trigger', 'park', 'park of another run', 'complete of another run']))
  })

  test('with steps and jobs that are tried again', async () => {
    const calls = { step: 0, job: 0 }
    const define = (durably: Durably) =>
      durably.defineJob({ name: 'job', input: nothing, retry: retry.fixed({ maxAttempts: 5, delay: '2d' }) }, async (ctx) => {
        const value = await ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 5, delay: '1h' }) }, () => {
          if (++calls.step < 3) throw new Error('down')
          return 'up'
        })
        if (++calls.job === 1) throw new Error('once more')
        return value
      })
    const report = await crashTest(define, {}, { beforeEach: () => Object.assign(calls, { step: 0, job: 0 }) })
    expect(String(report)).toContain('survives all')
    expect(report.boundaries).toEqual(expect.arrayContaining(['failed step "flaky"', 'park', 'retryLater', 'step "flaky"', 'complete']))
  })

  test('with an effect in doubt, when somebody decides', async () => {
    const define = job((ctx) => ctx.run('charge', { effect: 'once' }, () => 'charged'))
    const report = await crashTest(define, {}, { decisions: { charge: { done: 'charged' } } })
    expect(String(report)).toContain('survives all')
    expect(report.boundaries).toContain('start of "charge"')
  })
})

describe('a job that waits and breaks the rules is caught', () => {
  test('state in a variable that a step function changes after a sleep', async () => {
    const define = job(async (ctx) => {
      let total = 0
      await ctx.sleep('night', '8h')
      await ctx.run('count', () => {
        total += 1
      })
      return total
    })
    const report = await crashTest(define, {})
    expect([...new Set(report.failures.map(({ fault, boundary }) => `${fault}: ${boundary}`))]).toStrictEqual([
      'crash after commit: step "count"',
      'crash before: complete',
      'lease stolen: complete',
    ])
    expect(report.failures[0]?.problem).toBe('the output is not the undisturbed one: output: expected 1, got 0')
  })
})

describe('what it says when a run cannot go on', () => {
  test('a signal that nobody answers, undisturbed', async () => {
    const define = job((ctx) => ctx.waitFor('approval'))
    await expect(crashTest(define, {})).rejects.toThrow(
      'crashTest: undisturbed, job "job" waits for signal "approval", and no answer was given: pass signals: { approval: … }',
    )
    await expect(crashTest(define, {}, { signals: { aproval: 1 } })).rejects.toThrow('signal "approval"')
  })

  test('the signal of a child', async () => {
    const define = (durably: Durably) => {
      const child = durably.defineJob({ name: 'child', input: nothing }, (ctx) => ctx.waitFor('the boss'))
      return durably.defineJob({ name: 'parent', input: nothing }, (ctx) => ctx.invoke(child, {}))
    }
    await expect(crashTest(define, {})).rejects.toThrow(
      'job "child" waits for signal "the boss", and no answer was given: pass signals: { "the boss": … }',
    )
  })

  test('an effect in doubt that nobody decides', async () => {
    const define = job((ctx) => ctx.run('charge', { effect: 'once' }, () => 'charged'))
    const { failures } = await crashTest(define, {}, { faults: ['crash before'] })
    expect(failures.map(({ boundary, problem }) => [boundary, problem])).toStrictEqual([
      ['step "charge"', 'job "job" waits for a decision about step "charge", and no answer was given: pass decisions: { charge: … }'],
    ])
  })

  test('a signal that does not fit what the job declares', async () => {
    const define = (durably: Durably) =>
      durably.defineJob({ name: 'job', input: nothing, signals: { approval: z.object({ ok: z.boolean() }) } }, (ctx) =>
        ctx.waitFor('approval'),
      )
    await expect(crashTest(define, {}, { signals: { approval: 'yes' } })).rejects.toMatchObject({ code: 'invalid_input' })
  })

  test('a child whose job is not defined', async () => {
    const elsewhere = { name: 'elsewhere' }
    const define = (durably: Durably) => {
      const child = durably.defineJob({ ...elsewhere, input: nothing }, () => {})
      const { [ENGINE]: engine } = durably
      engine.jobs.delete('elsewhere')
      engine.handles.delete('elsewhere')
      return durably.defineJob({ name: 'parent', input: nothing }, (ctx) => ctx.invoke(child, {}))
    }
    await expect(crashTest(define, {})).rejects.toThrow('job "elsewhere" was triggered, but not defined on the instance passed in')
  })

  test('a step that never settles, by its name', async () => {
    const hangs = job((ctx) => ctx.run('hang', () => new Promise(() => {})))
    await expect(crashTest(hangs, {}, { timeout: 30 })).rejects.toThrow('did not end within 30 ms: step "hang" has not settled')
    const outside = job(() => new Promise(() => {}))
    await expect(crashTest(outside, {}, { timeout: 30 })).rejects.toThrow('the job function waits for something outside of its steps')
  })

  test('a definition that never settles', async () => {
    await expect(crashTest(() => new Promise<never>(() => {}), {}, { timeout: 30 })).rejects.toThrow(
      'the function that defines the job did not settle within 30 ms',
    )
    const neverReady = { timeout: 30, beforeEach: () => new Promise(() => {}) }
    await expect(crashTest(returnsOne, {}, neverReady)).rejects.toThrow('beforeEach did not settle within 30 ms')
  })

  test('an option that it does not have', async () => {
    // @ts-expect-error a typo
    const tried = crashTest(returnsOne, {}, { signal: {} })
    await expect(tried).rejects.toThrow('crashTest has no option "signal"; did you mean "signals"?')
  })
})
