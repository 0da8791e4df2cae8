// Rounds — measures every entry of every row once per round. Contenders of a row follow each other closely, in another order each
// time: what the machine does beside the bench hits all of them.

import type { Contender } from './contender.ts'
import { CONTENDERS } from './contenders.ts'
import type { SpeedOptions } from './options.ts'
import { execute } from './order.ts'
import type { Places } from './places.ts'
import type { Entry, Row } from './rows.ts'
import { quickRow, shareOf } from './sizes.ts'
import type { Figure } from './workload.ts'

export interface Measured {
  row: Row
  entry: Entry
  /** By round; a round in which it failed has none. */
  figures: (Figure | undefined)[]
  /** Why there is none. */
  failed?: string
}

export async function measureRounds(options: SpeedOptions, places: Places): Promise<Measured[]> {
  const { quick, rounds, budgetMs } = options
  const rows = quick ? options.rows.map(quickRow) : options.rows
  const all = rows.flatMap((row) => row.entries.map((entry): Measured => ({ row, entry, figures: [] })))
  const began = performance.now()
  for (let round = 0; round < rounds; round++) {
    for (const row of rows) {
      const entrants = all.filter((measured) => measured.row === row)
      for (const measured of rotated(entrants, round)) measured.figures.push(await measure(measured, places))
      console.log(`${row.id.padEnd(24)} ${entrants.map(latest).join('  ')}`)
    }
    const elapsed = performance.now() - began
    if ((elapsed / (round + 1)) * (round + 2) > budgetMs) break
  }
  return all
}

async function measure(measured: Measured, places: Places): Promise<Figure | undefined> {
  const { row, entry } = measured
  // It would fail again.
  if (measured.failed && !measured.figures.some(Boolean)) return undefined
  const { share = 1, place: ownPlace }: Contender = CONTENDERS[entry.contender]
  try {
    const { place, remove } = await places.open(ownPlace ?? row.place, entry.finished)
    const answer = await execute({ contender: entry.contender, workload: shareOf(row.workload, share), place })
    await remove()
    if ('figure' in answer) return answer.figure
    measured.failed = answer.failed
  } catch (error) {
    measured.failed = error instanceof Error ? error.message : String(error)
  }
  return undefined
}

function rotated<T>(items: readonly T[], by: number): T[] {
  const first = by % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

function latest({ entry, figures, failed }: Measured): string {
  const figure = figures.at(-1)
  const shown = figure
    ? `${figure.value < 10 ? figure.value.toFixed(2) : Math.round(figure.value)}${figure.capped ? '*' : ''}`
    : `(${failed})`
  return `${entry.key} ${shown}`
}
