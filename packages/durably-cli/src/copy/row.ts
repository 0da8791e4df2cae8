// Rows of two databases, made comparable.
import { createHash } from 'node:crypto'

export type Row = Readonly<Record<string, unknown>>

/** Of its own in Postgres, and meaningless elsewhere: the order in which rows were inserted. */
const OWN_COLUMNS: readonly string[] = ['inserted']

/** The same text for the same row: drivers give numbers as numbers, bigints or texts. */
export function printOf(row: Row): string {
  const names = Object.keys(row).filter((name) => !OWN_COLUMNS.includes(name))
  return JSON.stringify(names.sort().map((name) => [name, row[name] === null ? null : String(row[name])]))
}

/** A checksum of many rows that does not depend on their order. */
export class Checksum {
  #sum = 0n
  rows = 0

  add(row: Row): void {
    this.#sum = (this.#sum + BigInt(`0x${createHash('sha256').update(printOf(row)).digest('hex')}`)) % 2n ** 256n
    this.rows++
  }

  toString(): string {
    return this.#sum.toString(16).padStart(64, '0')
  }
}
