// SimTabs — the workers of a world as tabs of one browser: they share its locks and channels, and one of them executes runs.
//   T1. The browser itself is never frozen, and knows at once that a tab has died.
//   T2. A tab is notified when it is awake.
import { type Channel, EXECUTING, type Page } from '../../store/leader-lock.ts'
import type { SimProcess } from './sim-process.ts'

const NOTIFICATION_MS = 1

/** The lock while one tab has it: until the tab releases it, another one steals it, or the tab dies. */
export interface Grant {
  readonly process: SimProcess
  readonly isStolen: boolean
  /** When the tab was notified; `null` until then. */
  notifiedAt: number | null
  isOver: boolean
}

export interface TabWatch {
  granted(grant: Grant): void
  /** The tab was notified that it no longer has the lock. */
  lost(grant: Grant): void
  stolen(grant: Grant): void
}

interface Request {
  process: SimProcess
  granted: (lock: unknown) => Promise<void> | undefined
  resolve: () => void
  reject: (error: unknown) => void
}

type PageEvent = 'pagehide' | 'pageshow'

export class SimTabs {
  readonly #watch: TabWatch
  readonly #queue: Request[] = []
  readonly #channels = new Set<Channel & { process: SimProcess }>()
  readonly #listeners = new Set<{ process: SimProcess; type: PageEvent; listener: () => void }>()
  #held: { grant: Grant; request: Request } | null = null
  /** Who holds the lock of those who may execute. */
  readonly #executing = new Set<{ process: SimProcess }>()

  constructor(watch: TabWatch) {
    this.#watch = watch
  }

  get holder(): SimProcess | null {
    return this.#held?.grant.process ?? null
  }

  /** In the order of the queue. */
  get waiting(): readonly SimProcess[] {
    return this.#queue.map(({ process }) => process)
  }

  /** It leads, or has led and may not know yet that it does not any more. */
  mayExecute(process: SimProcess): boolean {
    return [...this.#executing].some((executing) => executing.process === process)
  }

  mayOthersExecute(process: SimProcess): boolean {
    return [...this.#executing].some((executing) => executing.process !== process)
  }

  pageOf(process: SimProcess): Page {
    return {
      requestLock: (name, options, granted) =>
        name.endsWith(EXECUTING) ? this.#requestExecuting(process, options, granted) : this.#request(process, options, granted),
      openChannel: () => this.#open(process),
      on: (type, listener, { once = false, signal }) => this.#listen(process, type, listener, once, signal),
    }
  }

  /** The page is hidden, is frozen a little later, and is shown again when it wakes. */
  putAside(process: SimProcess, inMs: number, forMs: number): void {
    this.#dispatch(process, 'pagehide')
    process.env.timer(inMs, () => {
      process.pause(forMs)
      process.env.timer(0, () => this.#dispatch(process, 'pageshow'))
    })
  }

  died(process: SimProcess): void {
    for (const request of this.#queue.filter((request) => request.process === process)) this.#leaveQueue(request)
    if (this.#held?.grant.process === process) this.#end(this.#held.grant)
    for (const executing of this.#executing) if (executing.process === process) this.#executing.delete(executing)
  }

  #request(process: SimProcess, { steal, ifAvailable, signal }: LockOptions, granted: Request['granted']): Promise<void> {
    return new Promise((resolve, reject) => {
      const request: Request = { process, granted, resolve, reject }
      if (steal) this.#steal()
      if (!this.#held) this.#grant(request, steal === true)
      else if (ifAvailable) this.#notify(process, () => void granted(null))
      else {
        this.#queue.push(request)
        signal?.addEventListener('abort', () => this.#leaveQueue(request) && this.#notify(process, () => reject(signal.reason)))
      }
    })
  }

  /** Nobody waits for it: it is held in shared mode, or asked for if it is free. */
  #requestExecuting(process: SimProcess, { mode }: LockOptions, granted: Request['granted']): Promise<void> {
    const executing = { process }
    const lock = mode === 'shared' || this.#executing.size === 0 ? {} : null
    if (mode === 'shared') this.#executing.add(executing)
    return new Promise((resolve) =>
      this.#notify(process, async () => {
        await granted(lock)
        this.#executing.delete(executing)
        resolve()
      }),
    )
  }

  #grant(request: Request, isStolen: boolean): void {
    const { process } = request
    const grant: Grant = { process, isStolen, notifiedAt: null, isOver: false }
    this.#held = { grant, request }
    // The lock may be stolen before its tab wakes up: then the tab is notified of both, one after the other.
    this.#notify(process, () => {
      grant.notifiedAt = process.now
      this.#watch.granted(grant)
      void request.granted({})?.then(() => {
        if (grant.isOver) return
        this.#end(grant)
        this.#watch.lost(grant)
        request.resolve()
      })
    })
  }

  #steal(): void {
    const stolen = this.#held
    if (!stolen) return
    const { grant, request } = stolen
    this.#watch.stolen(grant)
    grant.isOver = true
    this.#held = null
    this.#notify(grant.process, () => {
      this.#watch.lost(grant)
      request.reject(new Error('the lock was stolen'))
    })
  }

  #end(grant: Grant): void {
    grant.isOver = true
    this.#held = null
    const next = this.#queue.shift()
    if (next) this.#grant(next, false)
  }

  #leaveQueue(request: Request): boolean {
    const place = this.#queue.indexOf(request)
    if (place >= 0) this.#queue.splice(place, 1)
    return place >= 0
  }

  #open(process: SimProcess): Channel {
    const channel: Channel & { process: SimProcess } = {
      process,
      onmessage: null,
      postMessage: (data) => {
        for (const other of this.#channels)
          if (other !== channel) this.#notify(other.process, () => this.#channels.has(other) && other.onmessage?.({ data } as MessageEvent))
      },
      close: () => void this.#channels.delete(channel),
    }
    this.#channels.add(channel)
    return channel
  }

  #listen(process: SimProcess, type: PageEvent, listener: () => void, once: boolean, signal: AbortSignal | undefined): void {
    const entry = { process, type, listener: () => {} }
    const forget = () => this.#listeners.delete(entry)
    entry.listener = () => {
      if (once) forget()
      listener()
    }
    signal?.addEventListener('abort', forget)
    this.#listeners.add(entry)
  }

  #dispatch(process: SimProcess, type: PageEvent): void {
    for (const entry of [...this.#listeners]) if (entry.process === process && entry.type === type) this.#notify(process, entry.listener)
  }

  #notify(process: SimProcess, what: () => void): void {
    process.env.timer(NOTIFICATION_MS, what)
  }
}
