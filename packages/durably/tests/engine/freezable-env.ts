// A process that can be suspended: while it is frozen the clock runs on, but none of its timers and turns are served.
import type { Env } from '../../src/model/env.ts'

export interface FreezableEnv extends Env {
  freeze(): void
  thaw(): void
}

export function freezable(env: Env): FreezableEnv {
  let frozen = false
  let missed: (() => void)[] = []
  const served = (fn: () => void) => () => {
    if (frozen) missed.push(fn)
    else fn()
  }
  return {
    ...env,
    timer: (ms, fn) => env.timer(ms, served(fn)),
    defer: (fn) => env.defer(served(fn)),
    freeze() {
      frozen = true
    },
    thaw() {
      frozen = false
      const waiting = missed
      missed = []
      for (const fn of waiting) fn()
    },
  }
}
