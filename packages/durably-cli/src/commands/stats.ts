import type { Command } from '../command.ts'
import { PHASES } from '../conditions.ts'
import { withDurably } from '../open.ts'
import { paint, phaseColor } from '../output/paint.ts'

const BAR_CELLS = 30

export const stats: Command = {
  name: 'stats',
  summary: 'count all runs by phase',
  examples: ['durably stats', 'durably stats --json | jq .failed'],
  run: (given, io) =>
    withDurably(given, io, async (durably) => {
      const counts = await durably.countsByPhase()
      if (given.has('json')) {
        io.out(JSON.stringify(counts))
        return undefined
      }
      const most = Math.max(1, ...Object.values(counts))
      const digits = Math.max(...Object.values(counts).map((count) => String(count).length))
      for (const phase of PHASES) {
        const count = counts[phase]
        if (count === 0) continue
        const bar = '█'.repeat(Math.max(1, Math.round((count / most) * BAR_CELLS)))
        io.out(`${phase.padEnd(10)}  ${String(count).padStart(digits)}  ${paint(io, phaseColor(phase), bar)}`)
      }
      if (Object.values(counts).every((count) => count === 0)) io.err('there are no runs')
      return undefined
    }),
}
