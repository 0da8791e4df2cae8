// VirtualLooks — the timers of a virtual clock that only look whether something has changed (`latestMs` of `Env.timer`). See V6.

export interface Timer {
  at: number
  /** Among all timers, in the order of their making. */
  number: number
  fn: () => void
}

export interface Look extends Timer {
  everyMs: number
  setAt: number
  /** It comes by then, even if nothing has happened. */
  latestAt: number
}

export function isBefore(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number)
}

export class VirtualLooks {
  readonly #looks = new Set<Look>()
  #happenedAt = 0

  add(look: Look): Look {
    this.#looks.add(look)
    return look
  }

  /** What is looked at may have changed. */
  somethingHappened(now: number): void {
    this.#happenedAt = now
  }

  /** The one that comes first, by `until` if it can, given that nothing else happens before: a copy that has the time at which it comes. */
  next(now: number, until: number): Timer | undefined {
    let end = until
    for (const look of this.#looks) end = Math.min(end, this.#findsTheSame(look) ? look.latestAt : timeFrom(now, look))
    let first: Timer | undefined
    for (const look of this.#looks) {
      const at = timeFrom(this.#findsTheSame(look) ? Math.max(now, lastTimeBy(end, look)) : now, look)
      const coming = { ...look, at, fn: () => void (this.delete(look) && look.fn()) }
      if (!first || isBefore(coming, first)) first = coming
    }
    return first
  }

  delete(look: Look): boolean {
    return this.#looks.delete(look)
  }

  #findsTheSame({ setAt }: Look): boolean {
    return this.#happenedAt < setAt
  }
}

function timeFrom(now: number, { at, everyMs }: Look): number {
  return at + Math.max(0, Math.ceil((now - at) / everyMs)) * everyMs
}

function lastTimeBy(end: number, { at, everyMs }: Look): number {
  return at + Math.max(0, Math.floor((end - at) / everyMs)) * everyMs
}
