// VirtualTime — the clocks and the timers of a virtual Env. See V2, V3 and V6.
import type { TimerHandle } from '../model/env.ts'
import { isBefore, type Look, type Timer, VirtualLooks } from './virtual-looks.ts'

export class VirtualTime {
  mono = 0
  wall: number
  /** In the order in which they fall due. */
  readonly #timers: Timer[] = []
  readonly #looks = new VirtualLooks()
  #made = 0

  constructor(startMs: number) {
    this.wall = startMs
  }

  /** A timer that is set while a later moment is reached does not turn the clocks back. */
  pass(ms: number): void {
    if (ms <= 0) return
    this.mono += ms
    this.wall += ms
  }

  setTimer(ms: number, fn: () => void, latestMs?: number): Timer {
    const { mono } = this
    const timer: Timer = { at: mono + Math.max(0, ms), number: this.#made++, fn }
    if (latestMs !== undefined) return this.#looks.add({ ...timer, everyMs: ms, setAt: mono, latestAt: mono + latestMs })
    this.somethingHappened()
    this.#timers.splice(placeOf(timer, this.#timers), 0, timer)
    return timer
  }

  clear(handle: TimerHandle): void {
    if (!handle || this.#looks.delete(handle as Look)) return
    const place = placeOf(handle as Timer, this.#timers)
    if (this.#timers[place] === handle) this.#timers.splice(place, 1)
  }

  /** What a poll looks at may have changed. */
  somethingHappened(): void {
    this.#looks.somethingHappened(this.mono)
  }

  /** Takes the next timer that falls due by `by`, if time passes until `until`. */
  takeDue(until: number, by = until): Timer | undefined {
    const next = this.#timers[0]
    const look = this.#looks.next(this.mono, Math.min(until, next?.at ?? until))
    if (look && look.at <= by && (!next || isBefore(look, next))) return look
    if (!next || next.at > by) return undefined
    this.#looks.somethingHappened(next.at)
    return this.#timers.shift()
  }

  /** Milliseconds until the next timer is due; null if none is set. */
  nextInMs(): number | null {
    const { mono } = this
    const at = Math.min(this.#timers[0]?.at ?? Number.POSITIVE_INFINITY, this.#looks.next(mono, mono)?.at ?? Number.POSITIVE_INFINITY)
    return at === Number.POSITIVE_INFINITY ? null : Math.max(0, at - mono)
  }
}

/** The place where it is, or would be inserted. */
function placeOf(timer: Timer, timers: readonly Timer[]): number {
  let from = 0
  let to = timers.length
  while (from < to) {
    const middle = (from + to) >>> 1
    const other = timers[middle]
    if (other && isBefore(other, timer)) from = middle + 1
    else to = middle
  }
  return from
}
