// Log lines, progress and output of streams that the database cannot store are dropped and reported. They never fail the step whose record,
// start or heartbeat they were attached to, and they never cost a lease.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { JobContext } from '../../src/index.ts'
import { DurablyError } from '../../src/model/errors.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import type { OwnerWrite } from '../../src/store/owner-write.ts'
import type { Store } from '../../src/store/store.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS, type WorldName } from './world.ts'

const anything = z.unknown()
/** No text with this can be stored. */
const BAD = 'unstorable'

/** As a database answers to data that it cannot store: nothing of the transaction is there afterwards. */
function rejectingBad(store: Store): Store {
  const refuseBad = (write: OwnerWrite) => {
    if (JSON.stringify(write).includes(BAD)) throw new DurablyError('store_rejected', 'the database refused the data')
    return write
  }
  const { runs, transact } = store
  return {
    ...store,
    runs: { ...runs, apply: async (writes) => runs.apply(writes.map(refuseBad)) },
    ...(transact && {
      async transact(body, statementMs) {
        let rejection: unknown
        const outcome = await transact(async (trx) => {
          const write = await body(trx)
          try {
            return refuseBad(write)
          } catch (error) {
            rejection = error
            throw error
          }
        }, statementMs)
        if (rejection) throw rejection
        return outcome
      },
    }),
  }
}

async function execute(world: WorldName, run: (ctx: JobContext, jump: (ms: number) => void) => unknown) {
  const here = await setup(world, { wrap: rejectingBad })
  const { durably, env } = here
  durably.use(withLogPersistence())
  const heard = listenTo(durably)
  const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => run(ctx, env.jump))
  const { id } = await job.trigger(null)
  durably.start()
  await env.advance(20_000)
  const reported = ofType(heard, 'worker:error').map(({ cause }) => (cause as DurablyError).code)
  const messages = async () => (await durably.getLogs(id)).map(({ message }) => message)
  return { ...here, id, heard, reported, messages, ended: await durably.getRun(id) }
}

const WAYS: [name: string, report: (ctx: JobContext) => unknown][] = [
  ['a log line', (ctx) => ctx.log.info(BAD)],
  ['progress', (ctx) => ctx.progress(1, 2, BAD)],
  [
    'the last output of a stream that failed',
    (ctx) =>
      ctx
        .stream('failing', async (emit) => {
          await emit(BAD)
          throw new Error('no matter')
        })
        .catch(() => {}),
  ],
]

describe.each(WORLDS)('unstorable telemetry on %s', (world) => {
  test.each(WAYS)('%s does not fail the step with whose record it is written', async (_, report) => {
    const { ended, reported } = await execute(world, async (ctx) => {
      await report(ctx)
      return ctx.run('innocent', () => 'done')
    })
    expect(ended).toMatchObject({ status: 'completed', output: 'done' })
    expect(reported).toEqual(['store_rejected'])
  })

  test('a log line does not fail the step before which the lease is renewed', async () => {
    const { ended, reported } = await execute(world, async (ctx, jump) => {
      await ctx.run('one', () => {})
      ctx.log.info(BAD)
      jump(60_000)
      return ctx.run('innocent', () => 'done')
    })
    expect(ended).toMatchObject({ status: 'completed', output: 'done' })
    expect(reported).toEqual(['store_rejected'])
  })

  test('a log line does not cost the lease when the store is asked for its time', async () => {
    let executions = 0
    const { ended, reported } = await execute(world, async (ctx, jump) => {
      if (++executions === 1) {
        ctx.log.info(BAD)
        jump(60_000)
      }
      await ctx.sleep('asks', 10)
      return 'done'
    })
    expect(ended).toMatchObject({ status: 'completed', output: 'done', recoveries: 0 })
    expect(reported).toEqual(['store_rejected'])
    expect(executions).toBe(2)
  })

  test('a log line does not fail an effect whose start is stored with it', async () => {
    const { ended, reported } = await execute(world, (ctx) => {
      ctx.log.info(BAD)
      return ctx.run('innocent', { effect: 'once' }, () => 'done')
    })
    expect(ended).toMatchObject({ status: 'completed', output: 'done' })
    expect(reported).toEqual(['store_rejected'])
  })

  test('a log line does not fail the run with whose end it is written', async () => {
    const { ended, reported } = await execute(world, (ctx) => {
      ctx.log.info(BAD)
      return 'done'
    })
    expect(ended).toMatchObject({ status: 'completed', output: 'done' })
    expect(reported).toEqual(['store_rejected'])
  })

  test('of a long step it is reported once, however much follows', async () => {
    const { ended, reported } = await execute(world, (ctx) =>
      ctx.run('innocent', async () => {
        for (let i = 0; i < 20; i++) {
          ctx.log.info(BAD)
          await new Promise((resolve) => setImmediate(resolve))
        }
        return 'done'
      }),
    )
    expect(ended).toMatchObject({ status: 'completed', output: 'done' })
    expect(reported).toEqual(['store_rejected'])
  })

  test('a result that cannot be stored fails its own step, and takes nothing with it that can be stored', async () => {
    const { ended, reported, messages, store, id } = await execute(world, (ctx) => {
      ctx.log.info('fine')
      ctx.progress(1, 2)
      return ctx.run('guilty', () => BAD)
    })
    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'store_rejected' }, progress: { current: 1, total: 2 } })
    expect(reported).toEqual([])
    expect(await messages()).toContain('fine')
    const types = (await store.events.list(id, { after: 0, limit: 100 })).map(({ type }) => type)
    expect(types).toEqual(['run:trigger', 'run:start', 'log:write', 'step:start', 'run:progress', 'step:fail', 'run:fail'])
  })

  test('the chunk of a stream that cannot be stored fails the stream, and the lines beside it are kept', async () => {
    const { ended, reported, messages } = await execute(world, async (ctx) => {
      await ctx.stream('guilty', async (emit) => {
        ctx.log.info('fine')
        // So much is written at once.
        await emit(BAD.repeat(1000))
      })
    })
    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'store_rejected' } })
    expect(reported).toEqual([])
    expect(await messages()).toContain('fine')
  })
})

describe('unstorable telemetry in a transaction', () => {
  test.each(['before', 'inside'] as const)('a log line that is written %s it does not fail it', async (when) => {
    let calls = 0
    const { ended, reported } = await execute('sqlite', async (ctx) => {
      if (when === 'before') ctx.log.info(BAD)
      return ctx.transaction('innocent', async () => {
        calls++
        if (when === 'inside') ctx.log.info(BAD)
        return 'done'
      })
    })
    expect(ended).toMatchObject({ status: 'completed', output: 'done' })
    expect(reported).toEqual(['store_rejected'])
    // The first call was undone.
    expect(calls).toBe(2)
  })

  test('a result that cannot be stored fails it', async () => {
    const { ended, messages } = await execute('sqlite', (ctx) =>
      ctx.transaction('guilty', async () => {
        ctx.log.info('fine')
        return BAD
      }),
    )
    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'store_rejected' } })
    expect(await messages()).toContain('fine')
  })
})
