// NarrowLine — a process's connection to the store that carries few requests at a time, as a small pool does. The others wait in the
// order in which they were sent; none has priority.

/** Called when its turn has come; it calls `over` when it has ended. */
type Request = (over: () => void) => void

export class NarrowLine {
  readonly #width: number
  readonly #waiting: Request[] = []
  #underWay = 0

  constructor(width: number) {
    this.#width = width
  }

  send(request: Request): void {
    this.#waiting.push(request)
    this.#next()
  }

  #next(): void {
    if (this.#underWay >= this.#width) return
    const request = this.#waiting.shift()
    if (!request) return
    this.#underWay++
    request(() => {
      this.#underWay--
      this.#next()
    })
  }
}
