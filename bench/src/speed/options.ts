import { parseArgs } from 'node:util'
import { ROWS, type Row } from './rows.ts'

export interface SpeedOptions {
  quick: boolean
  rows: readonly Row[]
  rounds: number
  /** No round is begun that would end later. */
  budgetMs: number
  /** Whether BENCHMARKS.md is written: only with all rows, in their full sizes. */
  writes: boolean
}

const MINUTE = 60_000

export function speedOptions(args: readonly string[]): SpeedOptions {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false }, only: { type: 'string', multiple: true }, rounds: { type: 'string' } },
  })
  const rows = values.only ? values.only.map(rowOf) : ROWS
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5))
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds must be a whole number of at least 1, got ${values.rounds}`)
  return { quick: values.quick, rows, rounds, budgetMs: values.quick ? 2.5 * MINUTE : 27 * MINUTE, writes: !values.only && !values.quick }
}

function rowOf(id: string): Row {
  const row = ROWS.find((row) => row.id === id)
  if (!row) throw new Error(`--only takes one of ${ROWS.map((row) => row.id).join(', ')}; got ${id}`)
  return row
}
