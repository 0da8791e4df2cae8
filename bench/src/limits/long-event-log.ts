// The event log of one run is long, and is read from its beginning, its middle and near its end.
import { sql } from 'kysely'
import { anything } from '../anything.ts'
import { median } from '../summary.ts'
import { analyse, type Engine, type Limit, openEngine } from './limit.ts'

const EVENTS = 100_000
const READ = 20
const TIMES = 15

export const longEventLog: Limit = {
  title: `${READ} events of a log of ${EVENTS.toLocaleString('en')}: the slowest place against the fastest, medians`,
  unit: 'times',
  most: 2,
  needsEvents: true,
  async measure(store) {
    const durably = await openEngine(store, 1)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('step', () => 1))
    const { id } = await job.trigger(null)
    await durably.processOne()
    await lengthen(durably, id)
    await analyse(durably)
    const places = [0, EVENTS / 2, EVENTS - READ]
    const times = places.map((): number[] => [])
    for (let round = 0; round < TIMES; round++) {
      for (const [i, after] of places.entries()) times[i]?.push(await timeToRead(durably, id, after))
    }
    await durably[Symbol.asyncDispose]()
    const medians = times.map(median)
    return Math.max(...medians) / Math.min(...medians)
  },
}

/** Copies of its last event, with the numbers that follow. */
async function lengthen({ db }: Engine, id: string): Promise<void> {
  await sql`
    INSERT INTO run_events (run_id, seq, event_type, payload, created_at)
    WITH RECURSIVE numbers (seq) AS (SELECT last_event_sequence + 1 FROM runs WHERE id = ${id} UNION ALL SELECT seq + 1 FROM numbers WHERE seq < ${sql.lit(EVENTS)})
    SELECT last.run_id, numbers.seq, last.event_type, last.payload, last.created_at
    FROM numbers, (SELECT * FROM run_events WHERE run_id = ${id} ORDER BY seq DESC LIMIT 1) AS last`.execute(db)
  await sql`UPDATE runs SET last_event_sequence = ${sql.lit(EVENTS)} WHERE id = ${id}`.execute(db)
}

async function timeToRead(durably: Engine, id: string, after: number): Promise<number> {
  const began = performance.now()
  let read = 0
  for await (const { sequence } of durably.subscribe(id, { after })) {
    if (sequence !== after + ++read) throw new Error(`event ${after + read} was expected, event ${sequence} came`)
    if (read === READ) break
  }
  if (read < READ) throw new Error(`the log ended after ${read} events`)
  return performance.now() - began
}
