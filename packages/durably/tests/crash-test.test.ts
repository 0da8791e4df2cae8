// The crash test for users' jobs: what it lets pass, what it catches, and where it says the trouble is.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../src/durably.ts'
import { memoryStore } from '../src/memory.ts'
import type { Env } from '../src/model/env.ts'
import type { JobContext } from '../src/model/job.ts'
import { withLogPersistence } from '../src/plugins/index.ts'
import { sqlite } from '../src/sqlite/index.ts'
import type { OwnerWrite } from '../src/store/owner-write.ts'
import { sqlStore } from '../src/store/sql/sql-store.ts'
import type { Store } from '../src/store/store.ts'
import { type CrashFailure, type CrashMatchers, type CrashReport, crashMatchers, crashTest } from '../src/testing/index.ts'

declare module 'vitest' {
  interface Matchers<T> extends CrashMatchers {}
}

expect.extend(crashMatchers)

/** A job that takes anything, defined on whichever instance it is given. */
function job(run: (ctx: JobContext, input: { n: number }) => unknown) {
  return (durably: Durably) => durably.defineJob({ name: 'job', input: z.object({ n: z.number() }) }, run)
}

const INPUT = { n: 20 }

const threeSteps = job(async (ctx, { n }) => {
  const fetched = await ctx.run('fetch', () => [n, n + 1])
  const sum = await ctx.run('sum', async () => fetched.reduce((a, b) => a + b))
  const at = await ctx.run('stamp', () => new Date(sum))
  return { sum, at }
})

function places(failures: readonly CrashFailure[]): string[] {
  return [...new Set(failures.map(({ fault, boundary }) => `${fault}: ${boundary}`))]
}

function problems({ failures }: CrashReport): string[] {
  return [...new Set(failures.map(({ problem }) => problem))]
}

describe('a job that keeps the rules survives', () => {
  test.each([null, { labels: { tenant: 'acme' } }])('with the input %j', async (input) => {
    const define = (durably: Durably) => durably.defineJob({ name: 'job', input: z.unknown() }, (ctx) => ctx.run('step', () => 1))
    expect(await crashTest(define, input)).toMatchObject({ ok: true, failures: [] })
  })

  test('every fault at every durable boundary of three steps: 5 × 5 cases', async () => {
    const report = await crashTest(threeSteps, INPUT)
    expect(report.boundaries).toStrictEqual(['claim', 'step "fetch"', 'step "sum"', 'step "stamp"', 'complete'])
    expect(report).toMatchObject({ ok: true, cases: 25, failures: [], notReached: [], jobName: 'job' })
    expect(String(report)).toBe('job "job" survives all 25 cases (boundaries: claim, step "fetch", step "sum", step "stamp", complete)')
  })

  test('with several timings of the store', async () => {
    expect(await crashTest(threeSteps, INPUT, { seeds: 3 })).toMatchObject({ ok: true, cases: 75 })
  })

  test('on the SQL store', async () => {
    const openStore = (env: Env) => sqlStore({ dialect: sqlite(':memory:'), env })
    expect(await crashTest(threeSteps, INPUT, { openStore })).toMatchObject({ ok: true, cases: 25 })
  })

  test('with steps in parallel, progress and log lines', async () => {
    const define = (durably: Durably) => {
      durably.use(withLogPersistence())
      return job(async (ctx) => {
        ctx.progress(1, 2)
        const step = (name: string) =>
          ctx.run(name, ({ log }) => {
            log.info(name)
            return name
          })
        return (await Promise.all(['a', 'b', 'c'].map(step))).join('')
      })(durably)
    }
    const report = await crashTest(define, INPUT)
    expect(report.boundaries).toEqual(expect.arrayContaining(['claim', 'step "a"', 'step "b"', 'step "c"', 'complete', 'log lines']))
    await expect(report).toSurviveCrashes()
  })

  test('with an effect that happens again: a step runs at least once', async () => {
    const effects: string[] = []
    let most = 0
    const define = job(async (ctx) => {
      await ctx.run('send', () => void effects.push('sent'))
      most = Math.max(most, effects.length)
    })
    expect(await crashTest(define, INPUT, { beforeEach: () => effects.splice(0) })).toMatchObject({ ok: true })
    expect(most).toBe(2)
  })

  test('with the clock and chance inside its steps, where they are recorded', async () => {
    const define = job(async (ctx) => {
      const code = await ctx.run('code', () => Math.random())
      const at = await ctx.run('at', () => performance.now())
      return { code, at, both: code + at }
    })
    expect(await crashTest(define, INPUT)).toMatchObject({ ok: true, cases: 20 })
  })

  test('with steps that really wait', async () => {
    const pause = (ms: number) => new Promise<number>((resolve) => setTimeout(resolve, ms, ms))
    const define = job(async (ctx) => {
      const first = await ctx.run('first', () => pause(5))
      await pause(1)
      return first + (await Promise.all([ctx.run('long', () => pause(8)), ctx.run('short', () => pause(2))])).length
    })
    expect(await crashTest(define, INPUT)).toMatchObject({ ok: true, cases: 25 })
  })

  test('with code outside of steps that really waits while its process dies', async () => {
    let most = 0
    let late = 0
    const define = job(async (ctx) => {
      const lateStep = async () => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        return ctx.run('late', () => {
          most = Math.max(most, ++late)
          return 'late'
        })
      }
      return Promise.all([ctx.run('early', () => 'early'), lateStep()])
    })
    const restart = () => {
      late = 0
    }
    expect(await crashTest(define, INPUT, { beforeEach: restart })).toMatchObject({ ok: true, cases: 20 })
    expect(most).toBe(2)
  })

  test('with steps that wait for the virtual clock, heartbeats included', async () => {
    const define = (durably: Durably, env: Env) =>
      job((ctx) => ctx.run('wait', () => new Promise<void>((resolve) => void env.timer(60_000, resolve))))(durably)
    const report = await crashTest(define, INPUT)
    expect(report.boundaries).toStrictEqual(['claim', 'heartbeat', 'heartbeat #2', 'heartbeat #3', 'step "wait"', 'complete'])
    await expect(report).toSurviveCrashes()
  })

  test('with streams that go on from their checkpoints, in parallel with a step', async () => {
    const define = (durably: Durably, env: Env) =>
      job(async (ctx, { n }) => {
        const write = (name: string, checkpointEvery: number) =>
          ctx.stream<number, number>(name, async (emit, checkpoint) => {
            for (let i = checkpoint.state ?? 0; i < 4; i++) {
              await new Promise<void>((resolve) => void env.timer(60, resolve))
              await emit(`${i} `)
              if ((i + 1) % checkpointEvery === 0) await checkpoint(i + 1)
            }
            return n
          })
        return Promise.all([write('told', 100), write('kept', 2), ctx.run('beside', () => 'beside')])
      })(durably)
    const report = await crashTest(define, INPUT)
    expect(report.boundaries).toEqual(
      expect.arrayContaining([
        'claim',
        'step "beside"',
        'chunks of "told"',
        'checkpoint of "kept"',
        'step "told"',
        'step "kept"',
        'complete',
      ]),
    )
    expect(report.notReached).toStrictEqual([])
    await expect(report).toSurviveCrashes()
  })

  test('also when it fails, as long as it fails in the same way', async () => {
    const inStep = job((ctx) => ctx.run('never', () => Promise.reject(new Error('no luck'))))
    const report = await crashTest(inStep, INPUT)
    expect(report.boundaries).toStrictEqual(['claim', 'failed step "never"', 'fail'])
    await expect(report).toSurviveCrashes()
    const outside = job(async (ctx) => {
      await ctx.run('a', () => 1)
      throw new Error('after the step')
    })
    await expect(outside).toSurviveCrashes(INPUT)
  })

  test('when it takes another way because a step returned something else; what did not come up is reported', async () => {
    let flips = 0
    const define = job(async (ctx) => {
      const side = await ctx.run('flip', () => (flips++ === 0 ? 'heads' : 'tails'))
      return ctx.run(side, () => side)
    })
    const report = await crashTest(define, INPUT)
    expect(report.ok).toBe(true)
    expect(places(report.notReached.map((place) => ({ ...place, problem: '', hint: null })))).toContain('crash before: step "heads"')
    expect(String(report)).toContain('not reached: crash before step "heads"')
  })
})

describe('a job that breaks the rules is caught where it breaks', () => {
  test('state in a variable that a step function changes', async () => {
    const define = job(async (ctx) => {
      let total = 0
      for (const name of ['first', 'second']) {
        await ctx.run(name, () => {
          total += 1
        })
      }
      return { total }
    })
    const report = await crashTest(define, INPUT)
    expect(places(report.failures)).toStrictEqual([
      'crash after commit: step "first"',
      'crash before: step "second"',
      'crash after commit: step "second"',
      'lease stolen: step "second"',
      'crash before: complete',
      'lease stolen: complete',
    ])
    expect(problems(report)).toStrictEqual([
      'the output is not the undisturbed one: output.total: expected 2, got 1',
      'the output is not the undisturbed one: output.total: expected 2, got 0',
    ])
    expect(report.failures[0]?.hint).toContain('put the rest into a step')
  })

  test('the same, when its steps return something else each time', async () => {
    const define = job(async (ctx) => {
      let calls = 0
      await ctx.run('code', () => {
        calls += 1
        return Math.random()
      })
      return calls
    })
    const report = await crashTest(define, INPUT)
    expect(problems(report)).toStrictEqual(['the output is not what follows from the records: output: expected 0, got 1'])
    expect(places(report.failures)).toContain('crash before: complete')
  })

  test.each([
    ['chance', () => Math.random()],
    ['the clock', () => performance.now()],
  ])('an output that depends on %s outside of a step', async (_, read) => {
    const define = job(async (ctx) => {
      await ctx.run('work', () => 1)
      return read()
    })
    const report = await crashTest(define, INPUT)
    expect(places(report.failures)).toContain('crash before: complete')
    expect(report.failures.every(({ problem }) => problem.startsWith('the output is not the undisturbed one: output: expected'))).toBe(true)
  })

  test('an order of steps that depends on how often the job was started', async () => {
    let attempt = 0
    const define = job(async (ctx) => {
      let trail = ''
      for (const name of attempt++ === 0 ? ['a', 'b'] : ['b', 'a']) trail += await ctx.run(name, () => name)
      return trail
    })
    const restart = () => {
      attempt = 0
    }
    const report = await crashTest(define, INPUT, { beforeEach: restart })
    expect(problems(report)).toStrictEqual(['the output is not the undisturbed one: output: expected "ab", got "ba"'])
    expect(places(report.failures)).toContain('crash before: step "a"')
  })

  test('names of steps that depend on how often the job was started', async () => {
    let attempt = 0
    const define = job(async (ctx) => {
      await ctx.run(`charge-${++attempt}`, () => 'charged')
      await ctx.run('thank', () => 'thanked')
    })
    const restart = () => {
      attempt = 0
    }
    const report = await crashTest(define, INPUT, { beforeEach: restart })
    expect(problems(report)).toStrictEqual(['step "charge-1" was recorded, but the execution that ended the run did not ask for it'])
    expect(places(report.failures)).toContain('crash after commit: step "charge-1"')
  })

  test('a step that cannot be done twice', async () => {
    const rows = new Set<number>()
    const define = job((ctx, { n }) =>
      ctx.run('insert', () => {
        if (rows.has(n)) throw new Error(`${n} exists`)
        rows.add(n)
      }),
    )
    const report = await crashTest(define, INPUT, { beforeEach: () => rows.clear() })
    expect(places(report.failures)).toStrictEqual(['crash before: step "insert"', 'lease stolen: step "insert"'])
    expect(problems(report)).toStrictEqual(['the run ended as failed with "20 exists", expected was completed'])
  })

  test('a job that never ends once it was disturbed', async () => {
    let executions = 0
    const define = job(async () => (executions++ === 0 ? 'done' : new Promise(() => {})))
    const restart = () => {
      executions = 0
    }
    const report = await crashTest(define, INPUT, { beforeEach: restart, timeout: 500, faults: ['crash before'] })
    expect(places(report.failures)).toStrictEqual(['crash before: complete'])
    expect(problems(report)[0]).toContain('did not end within 500 ms')
  })
})

describe('an engine or a store that breaks its promise is caught', () => {
  function storeWith(change: (store: Store) => Partial<Store>) {
    return (env: Env): Store => {
      const store = memoryStore({ env })
      return { ...store, ...change(store) }
    }
  }

  test('records that are not found again: a recorded step runs twice', async () => {
    const openStore = storeWith(({ steps }) => ({
      steps: { ...steps, listOwned: async () => [] },
    }))
    const report = await crashTest(threeSteps, INPUT, { openStore })
    expect(places(report.failures)).toContain('crash after commit: step "fetch"')
    expect(places(report.failures)).not.toContain('crash before: step "fetch"')
    expect(problems(report)).toContain('step "fetch", recorded by generation 1, ran again in 2 (I2c)')
  })

  test('a fence that lets former owners write', async () => {
    const openStore = storeWith(({ runs }) => ({
      runs: {
        ...runs,
        async apply([write]: readonly OwnerWrite[]) {
          if (!write) return []
          const row = await runs.get(write.claim.runId)
          if (!row?.leaseOwner) return runs.apply([write])
          const claim = { ...write.claim, generation: row.leaseGeneration, token: row.leaseOwner }
          return runs.apply([{ ...write, claim, number: row.leaseWrites + 1 }])
        },
      },
    }))
    const define = (durably: Durably, env: Env) =>
      job((ctx) => ctx.run('work', () => new Promise<void>((resolve) => void env.timer(50_000, resolve))))(durably)
    const report = await crashTest(define, INPUT, { openStore, faults: ['lease stolen'] })
    expect(places(report.failures)).toContain('lease stolen: step "work"')
    expect(problems(report).join()).toContain('generation 1, the owner was 2 (I6)')
  })

  test('a takeover that does not take back what was put out', async () => {
    const openStore = storeWith(({ events }) => ({
      events: { ...events, list: async (...page) => (await events.list(...page)).filter(({ type }) => type !== 'stream:reset') },
    }))
    const define = (durably: Durably, env: Env) =>
      job((ctx) =>
        ctx.stream('tell', async (emit) => {
          for (const part of ['a', 'b']) {
            await emit(part)
            await new Promise<void>((resolve) => void env.timer(60, resolve))
          }
        }),
      )(durably)
    const report = await crashTest(define, INPUT, { openStore, faults: ['crash after commit'] })
    expect(places(report.failures)).toContain('crash after commit: chunks of "tell"')
    expect(problems(report)[0]).toContain('the text of tell is "a", not that of owner 2 (I21)')
  })

  test('an ending that is emitted twice', async () => {
    const openStore = storeWith(({ events }) => ({
      events: {
        ...events,
        async list(runId) {
          const log = await events.list(runId)
          const ending = log.at(-1)
          return ending && log.some(({ type }) => type === 'run:reclaim') ? [...log, { ...ending, seq: ending.seq + 1 }] : log
        },
      },
    }))
    const report = await crashTest(threeSteps, INPUT, { openStore })
    expect(places(report.failures)).toContain('crash after commit: claim')
    expect(problems(report)).toContain(
      'the event log must have one ending, as its last event; it has run:complete, run:complete, and ends with run:complete',
    )
  })

  test('a run that is never taken back', async () => {
    const openStore = storeWith(({ runs }) => ({
      runs: { ...runs, reap: async () => [], probe: async (jobNames) => ({ ...(await runs.probe(jobNames)), stale: false }) },
    }))
    const report = await crashTest(threeSteps, INPUT, { openStore, faults: ['crash after commit'] })
    expect(places(report.failures)).toContain('crash after commit: claim')
    expect(places(report.failures)).not.toContain('crash after commit: complete')
    expect(problems(report)[0]).toBe('the run did not end within 31 virtual minutes')
  })
})

describe('usage', () => {
  test('a matcher takes the definition and the input, or a report', async () => {
    await expect(threeSteps).toSurviveCrashes(INPUT, { faults: ['crash before'] })
    await expect(await crashTest(threeSteps, INPUT, { faults: ['cancel'] })).toSurviveCrashes()
    await expect(job(() => Math.random())).not.toSurviveCrashes(INPUT)
  })

  test('a failing matcher names the boundaries and says what to do', async () => {
    const define = job(async (ctx) => {
      let seen = 0
      await ctx.run('look', () => {
        seen = 1
      })
      return seen
    })
    const failure = expect(define).toSurviveCrashes(INPUT)
    await expect(failure).rejects.toThrow(
      'job "job" fails in 3 of 15 cases (boundaries: claim, step "look", complete)\n' +
        '  crash after commit of step "look", crash before complete, lease stolen at complete: ' +
        'the output is not the undisturbed one: output: expected 1, got 0\n' +
        '  The steps returned the same, so something outside of them made the difference',
    )
  })

  test('a job that does not end undisturbed is an error that says so', async () => {
    const hangs = job((ctx) => ctx.run('hang', () => new Promise(() => {})))
    await expect(crashTest(hangs, INPUT, { timeout: 30 })).rejects.toThrow('undisturbed, the run did not end within 30 ms')
  })

  test('input that the job refuses is an error', async () => {
    // @ts-expect-error the input is typed by the job's schema
    await expect(crashTest(threeSteps, { n: 'one' })).rejects.toMatchObject({ code: 'invalid_input' })
  })

  test('a definition that works only once is an error', async () => {
    let used = 0
    const restart = () => {
      used = 0
    }
    const once = (durably: Durably) => {
      if (used++ > 0) throw new Error('already defined')
      return threeSteps(durably)
    }
    await expect(crashTest(once, INPUT, { beforeEach: restart })).rejects.toThrow('already defined')
  })

  test('a job of another instance is an error', async () => {
    const elsewhere = { trigger: async () => ({ id: 'elsewhere' }) }
    await expect(crashTest(() => elsewhere, {})).rejects.toThrow('define it on the instance that is passed in')
    await expect(crashTest(elsewhere as never, {})).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})
