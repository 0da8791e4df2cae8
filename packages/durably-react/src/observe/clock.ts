// Clock — the timers of the observers; a test replaces them.
import type { Env } from '@coji/durably'

export type Clock = Pick<Env, 'timer' | 'clear'>

export const systemClock: Clock = {
  timer: (ms, fn) => setTimeout(fn, ms),
  clear: (handle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
}
