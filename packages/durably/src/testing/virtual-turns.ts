// VirtualTurns — the deferred turns of a virtual Env, and the code that it loads. See V2, V4 and V5.

/** Far more than the tasks that ever wait at once. */
const TURNS_MAX = 100_000

export class VirtualTurns {
  readonly #turns: (() => void)[] = []
  readonly #loading = new Set<Promise<unknown>>()
  readonly #afterTurn: (fn: () => void) => void

  constructor(isClosed: boolean) {
    this.#afterTurn = isClosed ? whenSettled : afterRealTurn
  }

  get isEmpty(): boolean {
    return this.#turns.length === 0
  }

  defer(fn: () => void): void {
    this.#turns.push(fn)
  }

  load<T>(code: Promise<T>): Promise<T> {
    this.#loading.add(code)
    const settled = () => void this.#loading.delete(code)
    code.then(settled, settled)
    return code
  }

  /** Lets promises settle. To be called by a promise, as everything after an `await` is. */
  settle(): Promise<void> {
    const loading = this.#loading
    const afterTurn = this.#afterTurn
    return new Promise((resolve) => {
      const settled = () => (loading.size === 0 ? resolve() : void Promise.allSettled(loading).then(() => afterTurn(settled)))
      afterTurn(settled)
    })
  }

  async takeAll(): Promise<void> {
    let count = 0
    for (let turn = this.#turns.shift(); turn; turn = this.#turns.shift()) {
      if (++count > TURNS_MAX) throw new Error(`V5: ${TURNS_MAX} turns went by, and no time`)
      turn()
      await this.settle()
    }
  }
}

/** After a turn of the real event loop, taken when the module loads: a test may replace the globals later. */
const afterRealTurn = realTurns()

/** In Node a tick that a promise asked for comes when no promise can go on any more. Elsewhere only a whole turn of the event loop does. */
const whenSettled: (fn: () => void) => void = globalThis.process?.nextTick ?? afterRealTurn

function realTurns(): (fn: () => void) => void {
  if (typeof setImmediate === 'function') return setImmediate
  const { port1, port2 } = new MessageChannel()
  const waiting: (() => void)[] = []
  port1.onmessage = () => waiting.shift()?.()
  return (fn) => {
    waiting.push(fn)
    port2.postMessage(null)
  }
}
