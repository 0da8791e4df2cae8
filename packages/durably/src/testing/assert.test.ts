import { describe, expect, it } from 'vitest'
import { DurablyError } from '../model/errors.ts'
import { AssertionFailed, deepEqual, equal, ok, rejects } from './assert.ts'

const cycle = (name: string): object => {
  const value: Record<string, unknown> = { name }
  value.self = value
  return value
}

/** Made twice, so that no two values share an object. */
const samples = (): [string, unknown][] => [
  ['undefined', undefined],
  ['null', null],
  ['zero', 0],
  ['minus zero', -0],
  ['NaN', Number.NaN],
  ['a number', 1],
  ['a bigint', 1n],
  ['a text', '1'],
  ['true', true],
  ['an empty object', {}],
  ['an object without a prototype', Object.create(null)],
  ['an undefined property', { a: undefined }],
  ['a property', { a: 1 }],
  ['minus zero in a property', { a: -0 }],
  ['an own __proto__', JSON.parse('{"__proto__":{"a":1}}')],
  ['an empty array', []],
  ['a hole', Array(1)],
  ['undefined in an array', [undefined]],
  ['two items', [1, 2]],
  ['two items the other way round', [2, 1]],
  ['a date', new Date(0)],
  ['another date', new Date(1)],
  ['an invalid date', new Date(Number.NaN)],
  ['an empty map', new Map()],
  ['a map', new Map([['a', { b: 1 }]])],
  ['another map', new Map([['a', { b: 2 }]])],
  [
    'a map in another order',
    new Map([
      ['b', 1],
      ['a', 1],
    ]),
  ],
  ['an empty set', new Set()],
  ['a set', new Set(['a', 'b'])],
  ['a set in another order', new Set(['b', 'a'])],
  ['bytes', new Uint8Array([1, 2])],
  ['other bytes', new Uint8Array([1, 3])],
  ['words', new Uint16Array([1, 2])],
  ['an error', new Error('a')],
  ['another error', new Error('b')],
  ['a cycle', cycle('a')],
  ['another cycle', cycle('b')],
]

describe('deepEqual', () => {
  const left = samples()
  const right = samples()
  for (const [i, [name, value]] of left.entries()) {
    it(`finds ${name} equal to itself and to nothing else`, () => {
      for (const [j, [other, expected]] of right.entries()) {
        const compare = () => deepEqual(value, expected, 'value')
        if (i === j) expect(compare, other).not.toThrow()
        else expect(compare, other).toThrow(AssertionFailed)
      }
    })
  }

  it('names the place of the first difference', () => {
    expect(() => deepEqual({ rows: [{ id: 1 }, { id: 2 }] }, { rows: [{ id: 1 }, { id: 3 }] }, 'answer')).toThrow(
      'answer.rows.1.id: expected 3, got 2',
    )
    expect(() => deepEqual<object>({}, { a: undefined }, 'answer')).toThrow('answer.a: is missing')
    expect(() => deepEqual<object>({ a: undefined }, {}, 'answer')).toThrow('answer.a: is not expected')
  })

  it('does not print a megabyte', () => {
    const long = 'x'.repeat(1_000_000)
    expect(() => deepEqual(long, `${long}y`, 'text')).toThrow(/^text: expected "x{199}… \(1000003 characters\), got/)
  })

  it('takes one object in two places for no cycle', () => {
    const one = { a: 1 }
    expect(() => deepEqual([one, one], [{ a: 1 }, { a: 1 }], 'value')).not.toThrow()
    expect(() => deepEqual([one, one], [{ a: 1 }, { a: 2 }], 'value')).toThrow('value.1.a')
  })
})

describe('equal', () => {
  it('is Object.is', () => {
    expect(() => equal(Number.NaN, Number.NaN, 'number')).not.toThrow()
    expect(() => equal(0, -0, 'number')).toThrow('number: expected -0, got 0')
    expect(() => equal<object>({}, {}, 'object')).toThrow(AssertionFailed)
  })

  it('keeps both values for the runner that prints a diff', () => {
    const error = catchError(() => equal(1, 2, 'n'))
    expect(error).toMatchObject({ actual: 1, expected: 2 })
  })
})

describe('ok', () => {
  it('wants a truthy value', () => {
    expect(() => ok('x', 'text')).not.toThrow()
    for (const value of [0, '', null, undefined, false, Number.NaN]) expect(() => ok(value, 'value')).toThrow(AssertionFailed)
  })
})

describe('rejects', () => {
  const refused = new DurablyError('store_busy', 'busy')

  it('gives the error with the code', async () => {
    expect(await rejects(Promise.reject(refused), 'store_busy', 'call')).toBe(refused)
  })

  it('fails when the promise resolves, has another code, or rejects with anything else', async () => {
    await expect(rejects(Promise.resolve(undefined), 'store_busy', 'call')).rejects.toThrow('but it resolved')
    await expect(rejects(Promise.reject(refused), 'store_full', 'call')).rejects.toThrow('expected store_full, got store_busy')
    await expect(rejects(Promise.reject(new Error('store_busy')), 'store_busy', 'call')).rejects.toThrow('got Error: store_busy')
    await expect(rejects(Promise.reject(null), 'store_busy', 'call')).rejects.toThrow('got null')
  })
})

function catchError(fn: () => void): unknown {
  try {
    fn()
  } catch (error) {
    return error
  }
  return undefined
}
