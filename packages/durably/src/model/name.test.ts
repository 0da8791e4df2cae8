import { describe, expect, test } from 'vitest'
import { DurablyError } from './errors.ts'
import { checkName, NAME_BYTES_MAX, utf8Bytes } from './name.ts'

describe('checkName', () => {
  test.each(['a', 'sync-users', ' ', 'a b/c:d', '同期', '👩‍👩‍👧', '__proto__', '\n'])('accepts %j and returns it', (name) => {
    expect(checkName('job name', name)).toBe(name)
  })

  test.each<[string, unknown, string]>([
    ['undefined', undefined, 'must be a string, got undefined'],
    ['null', null, 'must be a string, got null'],
    ['a number', 1, 'must be a string, got number'],
    ['an object', {}, 'must be a string, got object'],
    ['a boxed string', Object('a'), 'must be a string, got object'],
    ['the empty string', '', 'must not be empty'],
    ['NUL', 'a\0b', 'must not contain a NUL character'],
    ['a lone surrogate', 'a\ud800', 'must be well-formed Unicode (it contains a lone surrogate)'],
    ['surrogates in the wrong order', '\udc00\ud800', 'must be well-formed Unicode (it contains a lone surrogate)'],
  ])('refuses %s', (_, value, problem) => {
    expect(() => checkName('idempotencyKey', value)).toThrow(new DurablyError('invalid_name', `idempotencyKey ${problem}`))
  })

  test.each([
    ['x', 1],
    ['é', 2],
    ['語', 3],
    ['😀', 4],
  ])('the limit is counted in bytes: %s', (char, bytes) => {
    const most = Math.floor(NAME_BYTES_MAX / bytes)
    const longest = char.repeat(most) + 'x'.repeat(NAME_BYTES_MAX - most * bytes)
    expect(utf8Bytes(longest)).toBe(512)
    expect(checkName('step name', longest)).toBe(longest)
    expect(() => checkName('step name', `${longest}x`)).toThrow(/^step name must be at most 512 bytes of UTF-8, got 513;/)
  })
})
