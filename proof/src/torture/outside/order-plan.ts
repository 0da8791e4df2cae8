// What an order is made of, drawn from a seed: every kind of step, in an order and side by side as it comes.
import { chance, pick } from '../../../../packages/durably/dist/testing/simulator/chance.js'

const PARTS = ['reserve', 'pack', 'label', 'book', 'letter', 'charge', 'invoice', 'mail', 'rest', 'approval'] as const
export type PartName = (typeof PARTS)[number]

export interface PlannedOrder {
  /** Three processes trigger it at once, with this key. */
  key: string
  /** Those of one stage go side by side. */
  stages: PartName[][]
  /** How long functions last, by part. */
  ms: Partial<Record<PartName, number>>
  sleepMs: number
  lines: number
  /** Its functions do not listen to their signals. */
  deaf: boolean
  /** Instead of all that: so many children at once. */
  fanOut: number
}

const STAGE_MAX = 5
const FUNCTION_MS_MAX = 1200
const FAN_OUT = 150

export function planOrder(seed: number, n: number): PlannedOrder {
  const name = `order ${n}`
  const ms = (part: string) => Math.round(chance(seed, `${name} ${part} ms`) * FUNCTION_MS_MAX)
  return {
    key: `order-${n}`,
    stages: stagesOf(seed, name),
    ms: { reserve: ms('reserve'), pack: ms('pack'), label: ms('label'), charge: ms('charge'), letter: FUNCTION_MS_MAX / 12 },
    sleepMs: pick(seed, `${name} sleep`, 200, 4000),
    lines: pick(seed, `${name} lines`, 3, 8),
    deaf: chance(seed, `${name} deaf`) < 0.3,
    fanOut: 0,
  }
}

export function planFanOut(n: number): PlannedOrder {
  return { key: `fan-out-${n}`, stages: [], ms: {}, sleepMs: 0, lines: 0, deaf: false, fanOut: FAN_OUT }
}

function stagesOf(seed: number, name: string): PartName[][] {
  const shuffled = PARTS.map((part) => ({ part, place: chance(seed, `${name} ${part}`) })).toSorted((a, b) => a.place - b.place)
  const stages: PartName[][] = []
  while (shuffled.length > 0) {
    const size = pick(seed, `${name} stage ${stages.length}`, 1, STAGE_MAX)
    stages.push(shuffled.splice(0, size).map(({ part }) => part))
  }
  return stages
}
