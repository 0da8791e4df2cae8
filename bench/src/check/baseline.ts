// Baseline — the committed counts, and how far counts may be from them.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Counts, eachCount } from './counts.ts'
import { VERBS } from './verbs.ts'

/** By store, then by verb. */
export type Costs = Record<string, Record<string, Counts>>

const FILE = fileURLToPath(new URL('../../baseline.json', import.meta.url))

/** Pages depend a little on where in a page a row falls; of small counts this is less than one. */
const TOLERANCE = 0.05
/** Postgres tidies pages up on its way, and writes that to its log, too. */
const BYTES_TOLERANCE = 0.12
/** Lost groups would cost several times as much. */
const GROUPED_TOLERANCE = 0.6

export function readBaseline(): Costs {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Costs
}

export function writeBaseline(costs: Costs): void {
  const stores = Object.entries(costs).map(([store, verbs]) => {
    const lines = Object.entries(verbs).map(([verb, counts]) => `    ${JSON.stringify(verb)}: ${oneLine(counts)}`)
    return `  ${JSON.stringify(store)}: {\n${lines.join(',\n')}\n  }`
  })
  writeFileSync(FILE, `{\n${stores.join(',\n')}\n}\n`)
}

function oneLine(counts: Counts): string {
  const members = Object.entries(counts).map(([name, value]) => `${JSON.stringify(name)}: ${value}`)
  return `{ ${members.join(', ')} }`
}

/** A sentence for each count that is not as the baseline has it. A lower one is named, too: else it could grow back unnoticed. */
export function deviations(now: Costs, baseline: Costs): string[] {
  const found: string[] = []
  for (const [store, verbs] of Object.entries(now)) {
    for (const [verb, counts] of Object.entries(verbs)) {
      const expected = baseline[store]?.[verb]
      if (!expected) found.push(`${store}: ${verb} is not in the baseline`)
      else
        eachCount(counts, (value, name) => {
          const isClose = near(value, expected[name], toleranceOf(store, verb, name))
          if (!isClose) found.push(`${store}: ${verb}: ${value} ${name}, the baseline has ${expected[name] ?? 'none'}`)
          return value
        })
    }
  }
  return found
}

function near(value: number, expected: number | undefined, tolerance: number): boolean {
  return expected !== undefined && Math.abs(value - expected) <= Math.max(expected, value) * tolerance
}

function toleranceOf(store: string, verbName: string, name: keyof Counts): number {
  if (name === 'walBytes') return BYTES_TOLERANCE
  const isGrouped = VERBS.some((verb) => verb.name === verbName && verb.grouped)
  // Without a server in between nothing but the store decides which writes meet.
  return isGrouped && store.startsWith('Postgres') ? GROUPED_TOLERANCE : TOLERANCE
}
