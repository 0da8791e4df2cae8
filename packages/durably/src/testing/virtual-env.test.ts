import { describe, expect, it, vi } from 'vitest'
import { iso, sleep } from '../model/env.ts'
import { type VirtualEnv, virtualEnv } from './virtual-env.ts'

describe('virtualEnv', () => {
  it('moves both clocks by what is advanced, and only then', async () => {
    const env = virtualEnv({ startMs: Date.UTC(2030, 0, 1) })
    expect([iso(env.wall()), env.mono()]).toEqual(['2030-01-01T00:00:00.000Z', 0])
    await env.idle()
    expect(env.mono()).toBe(0)
    await env.advance(1500)
    expect([iso(env.wall()), env.mono()]).toEqual(['2030-01-01T00:00:01.500Z', 1500])
  })

  it('fires timers in the order of their time, then of their making, each at its own time', async () => {
    const env = virtualEnv()
    const fired: string[] = []
    const at = (name: string, ms: number) => env.timer(ms, () => fired.push(`${name}@${env.mono()}`))
    at('c', 30)
    at('a', 10)
    at('b1', 20)
    at('b2', 20)
    at('later', 31)
    await env.advance(30)
    expect(fired).toEqual(['a@10', 'b1@20', 'b2@20', 'c@30'])
    await env.advance(1)
    expect(fired.at(-1)).toBe('later@31')
  })

  it.each([false, true])('lets promises settle between two timers (closed: %s)', async (isClosed) => {
    const env = virtualEnv({ isClosed })
    const order: string[] = []
    const talk = async (name: string, ms: number) => {
      await sleep(env, ms)
      order.push(`${name} wakes`)
      for (let i = 0; i < 50; i++) await null
      order.push(`${name} has settled`)
    }
    void talk('a', 10)
    void talk('b', 10)
    await env.advance(10)
    expect(order).toEqual(['a wakes', 'a has settled', 'b wakes', 'b has settled'])
  })

  it('lets promises settle, closed, also when it is driven by no promise', async () => {
    const env = virtualEnv({ isClosed: true })
    let steps = 0
    const settled = await new Promise<number>((resolve) => {
      setImmediate(() => {
        const work = async () => {
          for (; steps < 50; steps++) await null
        }
        void work()
        resolve(env.idle().then(() => steps))
      })
    })
    expect(settled).toBe(50)
  })

  it('clears one of many timers that are due at once, also from within another', async () => {
    const env = virtualEnv()
    const fired: number[] = []
    const timers = Array.from({ length: 20 }, (_, n) =>
      env.timer(n % 2 === 0 ? 5 : 7, () => {
        fired.push(n)
        if (n % 2 === 0) env.clear(timers[n + 1])
      }),
    )
    env.clear(timers[4])
    env.clear(timers[4])
    env.clear(undefined)
    await env.advance(10)
    expect(fired).toEqual([0, 2, 6, 8, 10, 12, 14, 16, 18, 5])
  })

  it('fires timers that are set while time passes, if they fall due in it', async () => {
    const env = virtualEnv()
    const ticks: number[] = []
    const tick = () => {
      ticks.push(env.mono())
      env.timer(10, tick)
    }
    env.timer(10, tick)
    await env.advance(35)
    expect(ticks).toEqual([10, 20, 30])
  })

  it('fires a timer without a delay only when it is driven', async () => {
    const env = virtualEnv()
    const fired: string[] = []
    env.timer(0, () => fired.push('now'))
    env.timer(-5, () => fired.push('in the past'))
    await env.idle()
    expect(fired).toEqual([])
    await env.advance(0)
    expect(fired).toEqual(['now', 'in the past'])
    expect(env.mono()).toBe(0)
  })

  it('does not fire a timer that was cleared, also by another timer of the same moment', async () => {
    const env = virtualEnv()
    const fired: string[] = []
    env.timer(10, () => env.clear(second))
    const second = env.timer(10, () => fired.push('second'))
    env.clear(env.timer(5, () => fired.push('cleared')))
    env.clear(undefined)
    await env.advance(100)
    expect(fired).toEqual([])
  })

  it('runs deferred turns in order, also those that a turn defers, and lets promises settle in between', async () => {
    const env = virtualEnv()
    const order: string[] = []
    env.defer(() => {
      order.push('first')
      env.defer(() => order.push('third'))
      void Promise.resolve().then(() => order.push('settled'))
    })
    env.defer(() => order.push('second'))
    expect(order).toEqual([])
    await env.idle()
    expect(order).toEqual(['first', 'settled', 'second', 'third'])
  })

  it('runs deferred turns when every timer of the moment has fired', async () => {
    const env = virtualEnv()
    const order: string[] = []
    for (const name of ['a', 'b']) {
      env.timer(10, () => {
        order.push(name)
        env.defer(() => order.push(`after ${name}`))
      })
    }
    env.timer(11, () => order.push('later'))
    await env.advance(20)
    expect(order).toEqual(['a', 'b', 'after a', 'after b', 'later'])
  })

  it('runs deferred turns before time passes', async () => {
    const env = virtualEnv()
    const order: string[] = []
    env.defer(() => order.push(`turn@${env.mono()}`))
    env.timer(5, () => env.defer(() => order.push(`turn of a timer@${env.mono()}`)))
    await env.advance(10)
    expect(order).toEqual(['turn@0', 'turn of a timer@5'])
  })

  it('jumps with the wall clock alone: no timer fires or waits longer', async () => {
    const env = virtualEnv()
    const start = env.wall()
    const fired = vi.fn()
    env.timer(1000, fired)
    env.jump(60_000)
    await env.idle()
    expect(fired).not.toHaveBeenCalled()
    expect([env.wall() - start, env.mono()]).toEqual([60_000, 0])
    env.jump(-120_000)
    await env.advance(1000)
    expect(fired).toHaveBeenCalledOnce()
    expect([env.wall() - start, env.mono()]).toEqual([-59_000, 1000])
    env.set(start)
    expect([env.wall(), env.mono()]).toEqual([start, 1000])
  })

  it('knows how long nothing will happen', async () => {
    const env = virtualEnv()
    expect(env.nextInMs()).toBeNull()
    env.timer(30, () => {})
    const sooner = env.timer(20, () => {})
    await env.advance(5)
    expect(env.nextInMs()).toBe(15)
    env.clear(sooner)
    expect(env.nextInMs()).toBe(25)
  })

  it('hands on what a timer throws', async () => {
    const env = virtualEnv()
    env.timer(1, () => {
      throw new Error('from a timer')
    })
    await expect(env.advance(1)).rejects.toThrow('from a timer')
  })

  it('makes the same ids and numbers from the same seed, others from another', () => {
    const draw = (env: VirtualEnv) => [env.id(), env.random(), env.id(), env.random()]
    expect(draw(virtualEnv({ seed: 7 }))).toEqual(draw(virtualEnv({ seed: 7 })))
    expect(draw(virtualEnv({ seed: 7 }))).not.toEqual(draw(virtualEnv({ seed: 8 })))
  })

  it('does not let ids disturb chance', () => {
    const [one, other] = [virtualEnv({ seed: 7 }), virtualEnv({ seed: 7 })]
    for (let i = 0; i < 10; i++) one.id()
    expect(one.random()).toBe(other.random())
  })

  it('makes numbers that are spread over [0, 1)', () => {
    const { random } = virtualEnv({ seed: 0 })
    const drawn = Array.from({ length: 10_000 }, random)
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...drawn)).toBeLessThan(1)
    for (let i = 0; i < 10; i++) {
      const share = drawn.filter((x) => Math.floor(x * 10) === i).length
      expect(share).toBeGreaterThan(900)
      expect(share).toBeLessThan(1100)
    }
  })

  it('makes ids that grow, whatever the clock does', async () => {
    const env = virtualEnv({ startMs: 0 })
    const ids = [env.id(), env.id()]
    await env.advance(5)
    ids.push(env.id())
    env.jump(-1_000)
    ids.push(env.id(), env.id())
    env.jump(10_000)
    ids.push(env.id())
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
  })

  it('asks neither the global clocks nor the global timers nor chance', async () => {
    const spies = [
      vi.spyOn(Date, 'now'),
      vi.spyOn(Math, 'random'),
      vi.spyOn(performance, 'now'),
      vi.spyOn(globalThis, 'setTimeout'),
      vi.spyOn(globalThis.crypto, 'getRandomValues'),
    ]
    const env = virtualEnv()
    env.timer(5, () => void env.id())
    env.random()
    await env.advance(10)
    const calls = spies.map((spy) => spy.mock.calls.length)
    for (const spy of spies) spy.mockRestore()
    expect(calls).toEqual([0, 0, 0, 0, 0])
  })

  it('has values that follow a call chain', async () => {
    const env = virtualEnv()
    const scope = env.scope?.<string>()
    const seen: (string | undefined)[] = []
    const job = async () => {
      await sleep(env, 10)
      seen.push(scope?.current())
    }
    void scope?.run('a', job)
    void scope?.run('b', job)
    await env.advance(10)
    expect(seen).toEqual(['a', 'b'])
    expect(scope?.current()).toBeUndefined()
  })

  it('waits for code that is loaded lazily, and lets no time pass meanwhile (V4)', async () => {
    const env = virtualEnv()
    const order: string[] = []
    const code = () => new Promise<void>((resolve) => void setTimeout(resolve, 20))
    env.timer(10, async () => {
      await env.load(code())
      order.push(`loaded@${env.mono()}`)
      await sleep(env, 5)
      order.push(`went on@${env.mono()}`)
    })
    env.timer(11, () => order.push(`later@${env.mono()}`))
    await env.advance(15)
    expect(order).toEqual(['loaded@10', 'later@11', 'went on@15'])
  })

  it('takes a duration as people write it', async () => {
    const env = virtualEnv()
    await env.advance('14d')
    expect(env.mono()).toBe(14 * 86_400_000)
    await expect(env.advance('14 days' as '14d')).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  describe('looks (V6)', () => {
    /** Looks every `everyMs`, as a worker does, and notes when. */
    function looking(env: VirtualEnv, everyMs: number, latestMs = Number.POSITIVE_INFINITY) {
      const looks: number[] = []
      const again = () => {
        handles.last = env.timer(everyMs, look, latestMs)
      }
      const look = () => {
        looks.push(env.mono())
        again()
      }
      const handles: { last: unknown } = { last: null }
      again()
      return { looks, handles }
    }

    it('come first and last while nothing happens, at the times that they always have', async () => {
      const env = virtualEnv()
      const { looks } = looking(env, 1000)
      await env.advance(10_500)
      expect(looks).toEqual([1000, 10_000])
      expect(env.nextInMs()).toBe(500)
      await env.advance(1000)
      expect(looks).toEqual([1000, 10_000, 11_000])
    })

    it('come before and after a timer, which may change something', async () => {
      const env = virtualEnv()
      const { looks } = looking(env, 1000)
      env.timer(5500, () => {})
      await env.advance(20_000)
      expect(looks).toEqual([1000, 5000, 6000, 20_000])
    })

    it('come again when another look has found something', async () => {
      const env = virtualEnv()
      const { looks } = looking(env, 1000)
      let finds = 0
      const other = () => {
        if (env.mono() > 5000 && finds++ === 0) env.id()
        env.timer(700, other, 5000)
      }
      env.timer(700, other, 5000)
      await env.advance(20_000)
      expect(looks).toContain(6000)
      expect(looks.length).toBeLessThan(12)
    })

    it('come at the latest when they must', async () => {
      const env = virtualEnv()
      const { looks } = looking(env, 1000, 3500)
      await env.advance(9000)
      expect(looks).toEqual([1000, 4000, 7000, 9000])
    })

    it('can be cleared', async () => {
      const env = virtualEnv()
      const { looks, handles } = looking(env, 1000)
      await env.advance(1000)
      env.clear(handles.last)
      await env.advance('1d')
      expect(looks).toEqual([1000])
      expect(env.nextInMs()).toBeNull()
    })
  })
})
