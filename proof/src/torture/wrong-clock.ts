// A clock that is wrong by so much, and may jump: what a process has whose machine nobody keeps in time.
import { type Env, systemEnv } from '../../../packages/durably/dist/model/env.js'
import { monotonicUlids } from '../../../packages/durably/dist/model/ulid.js'

export interface ClockFaults {
  /** It is wrong by at most so much, in either direction. */
  rangeMs: number
  skews: boolean
  jumps: boolean
}

const JUMP_MS_MIN = 300
const JUMP_MS_MAX = 2000

export interface WrongClock {
  env: Env
  /** From now on it is right. */
  setRight(): void
}

export function wrongClock({ rangeMs, skews, jumps }: ClockFaults, report: (offsetMs: number) => void): WrongClock {
  let offsetMs = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const set = (ms: number) => {
    offsetMs = ms
    report(ms)
  }
  const jump = () => {
    timer = setTimeout(
      () => {
        set(anywhere(rangeMs))
        jump()
      },
      JUMP_MS_MIN + Math.random() * (JUMP_MS_MAX - JUMP_MS_MIN),
    )
    timer.unref()
  }
  if (skews) set(anywhere(rangeMs))
  if (jumps) jump()
  const nextId = monotonicUlids(Math.random)
  const wall = () => Date.now() + offsetMs
  return {
    env: { ...systemEnv(), wall, id: () => nextId(wall()) },
    setRight() {
      clearTimeout(timer)
      set(0)
    },
  }
}

function anywhere(rangeMs: number): number {
  return Math.round((Math.random() * 2 - 1) * rangeMs)
}
