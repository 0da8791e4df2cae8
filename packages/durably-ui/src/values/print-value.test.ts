import { expect, test } from 'vitest'
import { printValue } from './print-value.ts'

const print = (value: unknown) => printValue(value, 10_000).text

test('plain values look like JSON, with indents', () => {
  expect(print({ a: [1, 'x"y'], b: {}, c: null })).toBe('{\n  "a": [\n    1,\n    "x\\"y"\n  ],\n  "b": {},\n  "c": null\n}')
})

test('what JSON does not have is named', () => {
  expect(print(new Date('2026-01-02T03:04:05Z'))).toBe('Date 2026-01-02T03:04:05.000Z')
  expect(print(new Date(Number.NaN))).toBe('Date invalid')
  expect(print(12n)).toBe('12n')
  expect(print(undefined)).toBe('undefined')
  expect(print(-0)).toBe('-0')
  expect(print(new Uint8Array(3))).toBe('Uint8Array of 3 bytes')
  expect(print(new Set([1]))).toBe('Set [\n  1\n]')
  expect(print(new Map([['k', 2]]))).toBe('Map {\n  "k" → 2\n}')
})

test('of a large value only the beginning is printed, and the rest is not even looked at', () => {
  let read = 0
  const large = new Proxy(
    Array.from({ length: 10_000 }, () => 'x'.repeat(50)),
    {
      get(target, key, receiver) {
        read++
        return Reflect.get(target, key, receiver)
      },
    },
  )
  const { text, isCut } = printValue(large, 500)
  expect({ length: text.length, isCut }).toEqual({ length: 500, isCut: true })
  expect(read).toBeLessThan(200)
})

test('a text of 5 MB, and one that fits exactly', () => {
  expect(printValue('x'.repeat(5_000_000), 100)).toEqual({ text: `"${'x'.repeat(99)}`, isCut: true })
  expect(printValue('abc', 5)).toEqual({ text: '"abc"', isCut: false })
})

test('a value that is nested too deep ends with dots', () => {
  const deep = Array.from({ length: 500 }).reduce<unknown>((inner) => [inner], 1)
  expect(print(deep)).toContain('…')
})
