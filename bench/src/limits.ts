// What must stay small however much there is: `npm run bench -- limits`. On SQLite and on Postgres, with an event log and without.
import { blockedKey } from './limits/blocked-key.ts'
import { keptMemory } from './limits/kept-memory.ts'
import { largeOutputs } from './limits/large-outputs.ts'
import { lateTimers } from './limits/late-timers.ts'
import type { Limit } from './limits/limit.ts'
import { longEventLog } from './limits/long-event-log.ts'
import { longRuns } from './limits/long-runs.ts'
import { Places } from './speed/places.ts'

const LIMITS: readonly Limit[] = [lateTimers, blockedKey, longRuns, largeOutputs, longEventLog, keptMemory]
const KINDS = { 'sqlite-normal': 'SQLite', postgres: 'Postgres' } as const

const places = new Places()
let broken = 0
try {
  for (const limit of LIMITS) {
    console.log(`\n${limit.title}: at most ${limit.most} ${limit.unit}`)
    for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
      for (const eventLog of limit.needsEvents ? [true] : [true, false]) await measure(limit, kind, eventLog)
    }
  }
} finally {
  await places.close()
}
console.log(broken === 0 ? '\nall limits are kept' : `\n${broken} limits are not kept`)
if (broken > 0) process.exitCode = 1

async function measure(limit: Limit, kind: keyof typeof KINDS, eventLog: boolean): Promise<void> {
  const { place, remove } = await places.open(kind)
  const figure = await limit.measure({ place, eventLog })
  await remove()
  const isKept = figure <= limit.most
  if (!isKept) broken++
  const where = `${KINDS[kind]}${eventLog ? '' : ', eventLog: false'}`
  console.log(`  ${where.padEnd(28)} ${figure.toFixed(2).padStart(8)} ${limit.unit}${isKept ? '' : '   not kept'}`)
}
