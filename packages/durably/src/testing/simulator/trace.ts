// Trace — a running hash of everything that happened, in order: two equal hashes are two equal runs.

export class Trace {
  #low = 0x811c9dc5
  #high = 0x9dc5811c
  readonly lines: string[] | null

  constructor(keepLines: boolean) {
    this.lines = keepLines ? [] : null
  }

  add(line: string): void {
    this.lines?.push(line)
    for (let i = 0; i < line.length; i++) {
      this.#low = Math.imul(this.#low ^ line.charCodeAt(i), 0x01000193) >>> 0
      this.#high = Math.imul(this.#high ^ (line.charCodeAt(i) + i), 0x01000193) >>> 0
    }
  }

  get hash(): string {
    return this.#low.toString(16).padStart(8, '0') + this.#high.toString(16).padStart(8, '0')
  }
}
