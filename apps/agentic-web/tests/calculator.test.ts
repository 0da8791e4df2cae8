import { expect, test } from 'vitest'
import { calculate } from '../dist/tools/calculator.js'

test.each([
  ['1 + 2 * 3', 7],
  ['(1 + 2) * 3', 9],
  ['2 ^ 3 ^ 2', 512],
  ['-2 ^ 2', -4],
  ['7 % 4 - .5', 2.5],
  ['1e3 / 8', 125],
])('%s = %d', (expression, value) => {
  expect(calculate(expression)).toBe(value)
})

test.each([
  ['', 'a number'],
  ['1 +', 'the end'],
  ['(1', 'parenthesis'],
  ['1 2', 'did not expect'],
  ['1 / 0', 'zero'],
  ['9 ^ 9 ^ 9', 'too large'],
  ['process.exit()', 'a number'],
  ['('.repeat(500), 'parentheses'],
])('%s is refused', (expression, words) => {
  expect(() => calculate(expression)).toThrow(words)
})
