// A worker that sets timers for a page, which may be hidden.
import { systemEnv, type TimerHandle } from '../model/env.ts'
import type { TimerOrder } from './worker-timers.ts'

const env = systemEnv()
const timers = new Map<number, TimerHandle>()

self.onmessage = ({ data }: MessageEvent<TimerOrder>) => {
  if ('clear' in data) {
    env.clear(timers.get(data.clear))
    timers.delete(data.clear)
    return
  }
  const { set, ms } = data
  const ring = () => {
    timers.delete(set)
    self.postMessage(set)
  }
  timers.set(set, env.timer(ms, ring))
}
