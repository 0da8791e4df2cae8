// What an instance says by itself when something goes wrong: one line each, and nothing of the data.
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import type { DurablyLogger } from '../../src/index.ts'
import { retry } from '../../src/model/retry-policy.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { temporaryFile } from '../sql/place.ts'
import { failure, unhandledRejections } from './failing-listeners.ts'
import { faulty } from './faulty-store.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

function listening() {
  const lines: string[] = []
  const at = (level: string) => (line: string) => void lines.push(`${level} ${line}`)
  const logger: DurablyLogger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  return { lines, logger }
}

describe.each(WORLDS)('the log of an instance on %s', (world) => {
  test('has one line for a run that failed, which names its step and its error, but not its payload', async () => {
    const { lines, logger } = listening()
    const { durably, soon } = await setup(world, { logger })
    const job = durably.defineJob({ name: 'pay', input: anything }, (ctx) =>
      ctx.run('charge', () => {
        throw Object.assign(new TypeError('declined\n  by the bank', { cause: new Error('no funds') }), { code: 'E_CARD' })
      }),
    )
    const { id } = await job.trigger({ card: 'secret 4711' })
    await soon(durably.processUntilIdle())
    expect(lines).toEqual([
      `error durably: run ${id} of job "pay" failed in step "charge": TypeError: declined by the bank [E_CARD] (cause: Error: no funds)`,
    ])
  })

  test('has a line for a step that failed for good although its run went on, and only debug lines for what is tried again', async () => {
    const { lines, logger } = listening()
    const { durably, env } = await setup(world, { logger })
    const twice = retry.fixed({ maxAttempts: 2, delay: 1000 })
    const job = durably.defineJob({ name: 'mail', input: anything }, async (ctx) => {
      const send = () => Promise.reject(new Error('no answer'))
      await ctx.run('send', { retry: twice }, send).catch(() => {})
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    await durably.stop()
    expect(lines).toEqual([
      `debug durably: step "send" of run ${id} of job "mail" failed and is tried again: Error: no answer`,
      `warn durably: step "send" of run ${id} of job "mail" failed: Error: no answer`,
    ])
  })

  test('says once that a listener throws, unless somebody handles that', async () => {
    const { lines, logger } = listening()
    const { durably, soon } = await setup(world, { logger })
    durably.on('run:start', () => {
      throw new Error('a bug')
    })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    await job.batchTrigger([{ payload: 1 }, { payload: 2 }])
    await soon(durably.processUntilIdle())
    expect(lines).toEqual(['warn durably: a listener of run:start threw Error: a bug; durably.onError gets such errors'])
    durably.onError(() => {})
    await job.trigger(3)
    await soon(durably.processUntilIdle())
    expect(lines).toHaveLength(1)
  })

  test('says once that runs wait for a job that this worker does not define', async () => {
    const { lines, logger } = listening()
    const { durably, another, env } = await setup(world)
    await durably.defineJob({ name: 'elsewhere', input: anything }, async () => {}).batchTrigger([{ payload: 1 }, { payload: 2 }])
    // However many newer runs there are, of this job or of others.
    const asleep = durably.defineJob({ name: 'asleep', input: anything }, async () => {})
    await asleep.batchTrigger(Array.from({ length: 50 }, () => ({ payload: 0, options: { delay: '1h' } })))
    const worker = another({ logger })
    worker.defineJob({ name: 'here', input: anything }, async () => {})
    worker.start()
    await env.advance(60_000)
    await worker.stop()
    expect(lines).toEqual([
      'warn durably: runs of job "elsewhere" wait, but this worker does not define that job; define it here or start a worker that does',
    ])
  })

  test.each(['throws', 'rejects'] as const)('a logger that %s harms nobody: the worker looks on for runs that wait', async (how) => {
    const unhandled = unhandledRejections()
    const { lines, logger } = listening()
    const warn = (line: string) => {
      lines.push(line)
      return failure(how, 'the disk of the log is full')
    }
    const { durably, another, env } = await setup(world)
    const worker = another({ logger: { ...logger, warn } })
    worker.start()
    for (const name of ['first', 'second']) {
      await durably.defineJob({ name, input: anything }, async () => {}).trigger(null)
      await env.advance(30_000)
    }
    await worker.stop()
    expect(lines).toEqual([expect.stringContaining('job "first" wait'), expect.stringContaining('job "second" wait')])
    expect(unhandled).toEqual([])
  })

  test('says who lost a run and who takes it over', async () => {
    const [old, young] = [listening(), listening()]
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap, logger: old.logger })
    const rival = another({ logger: young.logger })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', () => env.advance(1).then(() => new Promise(() => {}))),
    )
    rival.defineJob({ name: 'job', input: anything }, async () => {})
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    mortal.faults.die()
    rival.start()
    await env.advance(70_000)
    expect(young.lines).toEqual([
      `warn durably: run ${id} of job "job" lost its worker and is taken over; its recorded steps do not run again`,
    ])
  })
})

test('without options the lines go to the console, and logger: false is silent', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => said.mockRestore())
  for (const options of [{}, { logger: false } as const]) {
    const durably = createDurably({ dialect: sqlite(temporaryFile()), ...options })
    const job = durably.defineJob({ name: 'job', input: anything }, () => Promise.reject(new Error('bad')))
    await durably.migrate()
    await job.trigger(null)
    await durably.processUntilIdle()
    await durably[Symbol.asyncDispose]()
  }
  expect(said.mock.calls).toEqual([[expect.stringMatching(/^durably: run \w+ of job "job" failed: Error: bad$/)]])
})

test('a missing migrate() is one line, however often the worker looks', async () => {
  const { lines, logger } = listening()
  const durably = createDurably({ dialect: sqlite(temporaryFile()), pollingInterval: 1, logger })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  durably.defineJob({ name: 'job', input: anything }, async () => {})
  let errors = 0
  const often = new Promise<void>((resolve) => void durably.on('worker:error', () => void (++errors === 3 && resolve())))
  durably.start()
  await often
  await durably.stop()
  expect(lines).toEqual([expect.stringContaining('call await durably.migrate() first')])
})
