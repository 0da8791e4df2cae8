import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DURATION_MS_MAX, durationMs, NEVER_MS, timeMs } from './duration.ts'
import { DurablyError } from './errors.ts'

test.each<[never, number]>([
  [0 as never, 0],
  [1.2 as never, 2],
  ['500ms' as never, 500],
  ['1.5s' as never, 1500],
  ['5m' as never, 300_000],
  ['1h' as never, 3_600_000],
  ['2d' as never, 172_800_000],
  ['1w' as never, 604_800_000],
])('%j takes %i ms', (duration, ms) => {
  expect(durationMs('delay', duration)).toBe(ms)
})

const WITHOUT_TEXT = [{ toString: 1 }, Object.create(null), Object.assign(Object.create(null), { valueOf: 1 }), [Object.create(null)]]
const NEITHER = [null, undefined, true, Symbol('x'), 5n, {}, [], () => 1, Number.NaN, Number.POSITIVE_INFINITY, -1, ...WITHOUT_TEXT]

describe.each([
  ['durationMs', (value: unknown) => durationMs('delay', value as never), DURATION_MS_MAX],
  ['timeMs', (value: unknown) => timeMs('delay', value as never), NEVER_MS],
])('%s', (_, read, max) => {
  function refusal(value: unknown): DurablyError {
    try {
      read(value)
    } catch (error) {
      if (error instanceof DurablyError) return error
      throw error
    }
    throw new Error('it was accepted')
  }

  test('refuses all else with the name of the field, whatever it is', () => {
    const wrong = [
      ...NEITHER,
      max + 1,
      '',
      'soon',
      '5',
      '5 m',
      '-5m',
      '1e3s',
      ['5m'],
      Object('5m'),
      new Date(Number.NaN),
      'x'.repeat(1_000_000),
    ]
    for (const value of wrong) {
      const { code, message } = refusal(value)
      expect(code).toBe('invalid_argument')
      expect(message).toMatch(/^delay must be /)
      expect(message.length).toBeLessThan(300)
    }
    expect(refusal('soon').message).toContain('got "soon"')
    expect(refusal(Object.create(null)).message).toContain('got object')
  })

  test('answers with a time or a refusal (property)', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withBoxedValues: true, withMap: true }),
        (value) => {
          try {
            expect(read(value)).toBeLessThanOrEqual(max)
          } catch (error) {
            expect(error).toBeInstanceOf(DurablyError)
          }
        },
      ),
    )
  })
})
