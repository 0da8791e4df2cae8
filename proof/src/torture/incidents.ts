// Incidents — what was done to whom and when, in a file beside the ledger: a violation is read against it.
import { openSync, writeSync } from 'node:fs'
import { sharedClock } from './ledger.ts'

export class Incidents {
  readonly #fd: number

  constructor(file: string) {
    this.#fd = openSync(file, 'a')
  }

  /** `at` is on the clock of the ledger. */
  note(what: string, whom: string, details: Record<string, unknown> = {}): void {
    writeSync(this.#fd, `${JSON.stringify({ at: sharedClock(), time: new Date().toISOString(), what, whom, ...details })}\n`)
  }
}
