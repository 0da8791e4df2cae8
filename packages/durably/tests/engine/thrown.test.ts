// Anything can be thrown: the run fails with a normalised error of at most 8 KiB, the process lives on (research/reliability.md §10.1).
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

function hostile(): unknown {
  return Object.defineProperties(new Error('seen'), {
    message: {
      get: () => {
        throw new Error('no message')
      },
    },
    stack: {
      get: () => {
        throw new Error('no stack')
      },
    },
  })
}

function longStack(): Error {
  const error = new Error('m'.repeat(100_000))
  error.stack = 's'.repeat(1_000_000)
  return error
}

function cyclicCause(): Error {
  const error = new Error('cyclic')
  error.cause = error
  return error
}

const THROWN: Record<string, [thrown: () => unknown, message: string | RegExp]> = {
  null: [() => null, 'null'],
  undefined: [() => undefined, 'undefined'],
  'a text': [() => 'just a text', 'just a text'],
  'an empty text': [() => '', ''],
  'a number': [() => 42, '42'],
  'a symbol': [() => Symbol('s'), 'Symbol(s)'],
  'a plain object': [() => ({ message: 'from an object', code: 'E_OBJ' }), 'from an object'],
  'an object without a prototype': [() => Object.create(null), /without a text/],
  'a frozen error': [() => Object.freeze(new Error('frozen')), 'frozen'],
  'an error whose getters throw': [hostile, /./],
  'a revoked proxy': [
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      return proxy
    },
    /./,
  ],
  'an error with a huge message and stack': [longStack, /^m+…$/],
  'an error that causes itself': [cyclicCause, 'cyclic'],
  'a text with NUL and a lone surrogate': [() => new Error('a\0b\ud800'), 'a\uFFFDb\uFFFD'],
  'a function': [() => function oops() {}, /oops/],
}

describe.each(WORLDS)('thrown on %s', (world) => {
  test.each(Object.entries(THROWN))('%s fails the run with a readable message', async (_, [make, message]) => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'throws', input: z.boolean() }, async (ctx, inStep) => {
      if (!inStep) throw make()
      await ctx.run('bad', () => {
        throw make()
      })
    })
    const runs = [await job.trigger(true), await job.trigger(false)]
    await soon(durably.processUntilIdle())

    for (const { id } of runs) {
      const run = await job.getRun(id)
      expect(run?.status).toBe('failed')
      if (typeof message === 'string') expect(run?.error).toBe(message)
      else expect(run?.error).toMatch(message)
      expect(JSON.stringify(run?.failure).length).toBeLessThan(10_000)
    }
    expect(ofType(heard, 'run:fail').map(({ failedStepName }) => failedStepName)).toEqual(['bad', ''])
    expect(ofType(heard, 'worker:error')).toEqual([])
  })

  test('name, code and causes are kept', async () => {
    const { durably, soon } = await setup(world)
    const root = Object.assign(new RangeError('root'), { code: 'E_ROOT' })
    const job = durably.defineJob({ name: 'throws', input: anything }, async () => {
      throw new Error('top', { cause: new Error('middle', { cause: root }) })
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect((await job.getRun(id))?.failure).toMatchObject({
      message: 'top',
      cause: { message: 'middle', cause: { name: 'RangeError', message: 'root', code: 'E_ROOT' } },
    })
  })
})
