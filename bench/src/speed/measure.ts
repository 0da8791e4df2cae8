// The process of one measurement: `node measure.js <order>`. The last line of its output is the figure, or why there is none.
//   M1. Written synchronously, and the process ends at once: an engine may keep the event loop busy for ever.
import { writeSync } from 'node:fs'
import { CONTENDERS } from './contenders.ts'
import { type Answer, MARK, type Order } from './order.ts'

const STDOUT = 1

function answer(given: Answer): never {
  writeSync(STDOUT, `\n${MARK}${JSON.stringify(given)}\n`)
  process.exit(0)
}

// A peer that fails beside its own promises, as when its database goes.
process.on('unhandledRejection', (reason) => answer({ failed: String(reason) }))

const { contender, workload, place } = JSON.parse(process.argv[2] ?? '') as Order
try {
  answer({ figure: await CONTENDERS[contender].measure(workload, place) })
} catch (error) {
  answer({ failed: error instanceof Error ? error.message : String(error) })
}
