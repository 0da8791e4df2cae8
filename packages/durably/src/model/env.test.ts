import { decodeTime, isValid } from 'ulidx'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { iso, sleep, systemEnv, within } from './env.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function frozenAt(ms: number) {
  vi.useFakeTimers({ now: ms })
  return systemEnv()
}

describe('id', () => {
  test('is a ULID of the present', () => {
    const env = frozenAt(1_700_000_000_000)
    const id = env.id()
    expect(isValid(id)).toBe(true)
    expect(decodeTime(id)).toBe(1_700_000_000_000)
  })

  test('grows within one millisecond and when the clock goes back', () => {
    const env = frozenAt(1_700_000_000_000)
    const ids = Array.from({ length: 10_000 }, (_, i) => {
      if (i === 5_000) vi.setSystemTime(1_600_000_000_000)
      return env.id()
    })
    expect(ids).toStrictEqual([...ids].sort())
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('differs between two environments', () => {
    expect(frozenAt(1_700_000_000_000).id()).not.toBe(frozenAt(1_700_000_000_000).id())
  })
})

describe('random', () => {
  test('is in [0, 1) and finer than a byte', () => {
    const env = systemEnv()
    const drawn = Array.from({ length: 20_000 }, () => env.random())
    expect(drawn.every((x) => x >= 0 && x < 1)).toBe(true)
    expect(new Set(drawn).size).toBeGreaterThan(19_000)
  })
})

describe('time', () => {
  test('wall is the clock on the wall, mono never goes back', () => {
    const env = systemEnv()
    expect(Math.abs(env.wall() - Date.now())).toBeLessThan(1_000)
    const first = env.mono()
    expect(env.mono()).toBeGreaterThanOrEqual(first)
  })

  test('iso is ISO-8601 in UTC', () => {
    expect(iso(0)).toBe('1970-01-01T00:00:00.000Z')
  })

  test('iso writes every time as the runtime does, whichever was written before', () => {
    const minute = Date.UTC(2024, 1, 29, 23, 59)
    const near = [0, 1, 9, 10, 99, 100, 999, 1000, 9999, 59_999, 60_000, -1].map((ms) => minute + ms)
    const far = [-1, -59_999, -60_000, Date.UTC(9999, 11, 31), Date.UTC(12_000, 0), Date.UTC(-1, 0), 8.64e15, -8.64e15, 1.9, -1.9]
    for (const ms of [...near, ...far, ...near]) expect(iso(ms)).toBe(new Date(ms).toISOString())
    expect(() => iso(Number.NaN)).toThrow(RangeError)
    expect(() => iso(8.64e15 + 60_000)).toThrow(RangeError)
  })
})

describe('timer', () => {
  test('fires once, when its time has come', () => {
    const env = frozenAt(0)
    const fired = vi.fn()
    env.timer(100, fired)
    vi.advanceTimersByTime(99)
    expect(fired).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1_000)
    expect(fired).toHaveBeenCalledTimes(1)
  })

  test('does not fire when cleared', () => {
    const env = frozenAt(0)
    const fired = vi.fn()
    env.clear(env.timer(100, fired))
    vi.advanceTimersByTime(1_000)
    expect(fired).not.toHaveBeenCalled()
  })

  test.each([2 ** 31, 30 * 86_400_000, Number.POSITIVE_INFINITY])('a delay of %d ms does not fire at once', (ms) => {
    const asked = vi.fn()
    vi.stubGlobal('setTimeout', asked)
    systemEnv().timer(ms, () => {})
    expect(asked).toHaveBeenCalledWith(expect.any(Function), 2 ** 31 - 1)
  })

  test('sleep resolves after its delay', async () => {
    const env = frozenAt(0)
    const slept = sleep(env, 50).then(() => env.wall())
    await vi.advanceTimersByTimeAsync(50)
    expect(await slept).toBe(50)
  })
})

describe('within', () => {
  test('says whether a promise settled in time, and leaves no timer behind', async () => {
    const env = frozenAt(0)
    expect(await within(env, 100, Promise.resolve())).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
    const late = within(env, 100, new Promise(() => {}))
    await vi.advanceTimersByTimeAsync(100)
    expect(await late).toBe(false)
  })

  test('passes a rejection on', async () => {
    await expect(within(frozenAt(0), 100, Promise.reject(new Error('no')))).rejects.toThrow('no')
  })
})

describe('defer', () => {
  test.each(['setImmediate', 'MessageChannel'])('runs in a later turn, in order: %s', async (means) => {
    if (means === 'MessageChannel') vi.stubGlobal('setImmediate', undefined)
    const env = systemEnv()
    vi.unstubAllGlobals()
    const seen: string[] = []
    const done = new Promise<void>((resolve) => {
      env.defer(() => seen.push('first'))
      env.defer(() => {
        seen.push('second')
        resolve()
      })
    })
    await Promise.resolve()
    seen.push('microtask')
    await done
    expect(seen).toStrictEqual(['microtask', 'first', 'second'])
  })
})

describe('scope', () => {
  test('follows an async call chain, and parallel chains do not mix', async () => {
    const scope = systemEnv().scope?.<string>()
    if (!scope) throw new Error('this runtime has AsyncLocalStorage')
    const read = (value: string) =>
      scope.run(value, async () => {
        await Promise.resolve()
        return scope.current()
      })
    expect(await Promise.all([read('a'), read('b')])).toStrictEqual(['a', 'b'])
    expect(scope.current()).toBeUndefined()
    expect(scope.run('sync', () => scope.current())).toBe('sync')
  })

  test('is absent where the runtime has no AsyncLocalStorage', () => {
    vi.stubGlobal('process', undefined)
    expect(systemEnv().scope).toBeUndefined()
  })
})
