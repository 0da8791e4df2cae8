import { describe, expect, test } from 'vitest'
import { FAILURE_CHARS_MAX, failureOf } from './failure.ts'

const throwingProxy = () =>
  new Proxy(
    {},
    new Proxy(
      {},
      {
        get: () => () => {
          throw new Error('trap')
        },
      },
    ),
  )

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function chain(length: number, make: (i: number) => Error): Error {
  let error = make(0)
  for (let i = 1; i < length; i++) error = Object.assign(make(i), { cause: error })
  return error
}

describe('anything can be thrown', () => {
  test.each<[string, unknown, string]>([
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['a string', 'boom', 'boom'],
    ['an empty string', '', ''],
    ['a number', -0, '0'],
    ['a BigInt', 1n, '1'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['a function', () => 1, '() => 1'],
    ['a plain object', { a: 1 }, '[object Object]'],
    ['an object with a message', { message: 'mine' }, 'mine'],
    ['an object whose message is null', { message: null, toString: () => 'text' }, 'text'],
    ['an object without a prototype', Object.create(null), '[object without a text]'],
    ['an object whose toString throws', { toString: () => fail() }, '[object without a text]'],
    ['a Proxy that throws on everything', throwingProxy(), '[object without a text]'],
    ['a revoked Proxy', revoked(), '[object without a text]'],
    ['a frozen error', Object.freeze(new Error('frozen')), 'frozen'],
  ])('%s', (_, thrown, message) => {
    expect(failureOf(thrown).message).toBe(message)
    expect(typeof failureOf(thrown).name).toBe('string')
  })

  test('getters that throw are left out', () => {
    const thrown = Object.defineProperties(
      {},
      Object.fromEntries(['name', 'message', 'code', 'stack', 'cause'].map((key) => [key, { get: () => fail() }])),
    )
    expect(failureOf(thrown)).toStrictEqual({ name: 'Error', message: '[object Object]' })
  })

  test('fields of odd types become text', () => {
    expect(failureOf({ name: 7, message: { toString: () => fail() }, code: Symbol('c'), stack: 7 })).toStrictEqual({
      name: '7',
      message: '[object without a text]',
      code: 'Symbol(c)',
    })
  })
})

describe('what is kept of an error', () => {
  test('name, message, code, stack and cause', () => {
    const cause = Object.assign(new TypeError('inner'), { code: 'ECONNRESET' })
    const failure = failureOf(Object.assign(new Error('outer', { cause }), { code: 42 }))
    expect(failure).toMatchObject({ name: 'Error', message: 'outer', code: '42' })
    expect(failure.stack).toContain('failure.test.ts')
    expect(failure.cause).toMatchObject({ name: 'TypeError', message: 'inner', code: 'ECONNRESET' })
  })

  test('a code or cause that is null is none', () => {
    expect(Object.keys(failureOf({ message: 'm', code: null, cause: null }))).toStrictEqual(['name', 'message'])
  })

  test('a cause may be anything', () => {
    expect(failureOf(new Error('x', { cause: 'text' })).cause).toStrictEqual({ name: 'Error', message: 'text' })
    expect(failureOf(new Error('x', { cause: 0 })).cause?.message).toBe('0')
  })

  test('a cyclic cause ends', () => {
    const error = new Error('again')
    error.cause = error
    const failure = failureOf(error)
    let depth = 0
    for (let f = failure.cause; f; f = f.cause) depth++
    expect(depth).toBe(4)
  })

  test('the text is safe for every database', () => {
    const failure = failureOf(Object.assign(new Error('a\0b\ud800c'), { code: '\0', name: '\udfff', stack: '\0' }))
    expect(failure).toStrictEqual({ name: '\ufffd', message: 'a\ufffdb\ufffdc', code: '\ufffd', stack: '\ufffd' })
  })

  test('a cut never leaves half a character', () => {
    for (const lead of ['', 'x']) {
      const { message } = failureOf(new Error(lead + '😀'.repeat(FAILURE_CHARS_MAX)))
      expect(message.isWellFormed()).toBe(true)
      expect(message.endsWith('…')).toBe(true)
    }
  })
})

describe('the room a failure takes', () => {
  test.each<[string, string]>([
    ['letters', 'x'],
    ['lines', 'at f (file.ts:1:1)\n    '],
    ['quotes, each escaped', '"'],
  ])('is bounded, causes included: %s', (_, unit) => {
    const long = unit.repeat(1_000_000 / unit.length)
    const error = chain(10, () => Object.assign(new Error(long), { stack: long, code: long, name: long }))
    const json = JSON.stringify(failureOf(error))
    expect(json.length).toBeLessThanOrEqual(FAILURE_CHARS_MAX * 2)
    expect(characters(failureOf(error))).toBeLessThanOrEqual(FAILURE_CHARS_MAX)
  })

  test('the error itself gets the most: 1.5 thousand characters of message and of stack', () => {
    const { message, stack } = failureOf(Object.assign(new Error('m'.repeat(1500)), { stack: 's'.repeat(1500) }))
    expect(message).toHaveLength(1500)
    expect(stack).toHaveLength(1500)
  })
})

function characters(value: object): number {
  return Object.values(value).reduce<number>((sum, field) => sum + (typeof field === 'string' ? field.length : characters(field)), 0)
}

function fail(): never {
  throw new Error('should not escape')
}

test('without stacks none is read, of causes neither', () => {
  const unread = (message: string, cause?: unknown) =>
    Object.defineProperty(new Error(message, { cause }), 'stack', {
      get() {
        throw new Error('read')
      },
    })
  const read: unknown[] = []
  const error = new Proxy(unread('outer', unread('inner')), {
    get(target, key) {
      read.push(key)
      return Reflect.get(target, key)
    },
  })
  expect(failureOf(error, { errorStacks: false })).toEqual({ name: 'Error', message: 'outer', cause: { name: 'Error', message: 'inner' } })
  expect(read).not.toContain('stack')
})
