// The clock of `durably dev`: the time of the system and an offset, which a file beside the database holds. Every process reads the file each
// time that it asks for the time, so all of them have the same offset at every moment.
import { closeSync, existsSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'

/** The offset is written twice: if both agree, no write was seen half done. */
const DIGITS = 16
const READS_MAX = 100

function clockFileOf(database: string): string {
  return `${database}.clock`
}

export function hasClock(database: string): boolean {
  return existsSync(clockFileOf(database))
}

export class DevClock {
  readonly #file: number
  readonly #buffer = Buffer.alloc(2 * DIGITS)

  constructor(database: string) {
    const path = clockFileOf(database)
    if (!existsSync(path)) writeFileSync(path, written(0))
    this.#file = openSync(path, 'r+')
  }

  readonly now = (): number => Date.now() + this.offsetMs

  get offsetMs(): number {
    for (let reads = 0; reads < READS_MAX; reads++) {
      readSync(this.#file, this.#buffer, 0, 2 * DIGITS, 0)
      const [first, second] = [this.#buffer.toString('latin1', 0, DIGITS), this.#buffer.toString('latin1', DIGITS)]
      if (first === second && /^\d+$/.test(first)) return Number(first)
    }
    throw new Error('the clock file of durably dev is damaged; delete it to go on with the time of the system')
  }

  /** From here on all processes have this offset. It only grows: time does not go back. */
  set(offsetMs: number): void {
    writeSync(this.#file, written(offsetMs), 0)
  }

  close(): void {
    closeSync(this.#file)
  }
}

function written(offsetMs: number): string {
  return String(offsetMs).padStart(DIGITS, '0').repeat(2)
}
