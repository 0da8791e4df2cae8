import type { Durably, Schedule } from '@coji/durably'
import { AS_OPTION, actorOf } from '../actor.ts'
import type { Command } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import type { Given } from '../given.ts'
import { withDurably } from '../open.ts'
import type { Io } from '../output/io.ts'
import { runTable } from '../output/run-table.ts'
import { type Cell, table } from '../output/table.ts'
import { relative, shownDuration } from '../output/time.ts'

const DEEDS = ['list', 'pause', 'resume', 'trigger', 'delete', 'next'] as const

export const schedules: Command = {
  name: 'schedules',
  summary: 'list schedules; pause, resume, trigger or delete one, or show its next times',
  args: [
    { name: 'deed', what: 'what to do; list by default', optional: true, choices: DEEDS },
    { name: 'id', what: 'the id of the schedule', optional: true },
  ],
  options: { count: { value: 'number', short: 'n', what: 'how many next times; 5 by default' }, ...AS_OPTION },
  examples: ['durably schedules', 'durably schedules pause nightly-report', 'durably schedules next nightly-report --count 10'],
  run: (given, io) =>
    withDurably(given, io, async (durably, { now }) => {
      const asked = { durably, given, io, now }
      const deed = (given.args('deed')[0] ?? 'list') as (typeof DEEDS)[number]
      if (deed === 'list') return list(asked)
      const id = given.args('id')[0]
      if (id === undefined) throw new UsageError(`<id> is missing: which schedule to ${deed}`)
      return DO[deed](asked, id)
    }),
}

interface Asked {
  durably: Durably
  given: Given
  io: Io
  now: () => number
}

type Deed = (asked: Asked, id: string) => Promise<undefined>

const DO: Record<Exclude<(typeof DEEDS)[number], 'list'>, Deed> = {
  pause: async (asked, id) => show([await asked.durably.schedules.pause(id, actorOf(asked.given, asked.io))], asked),
  resume: async (asked, id) => show([await asked.durably.schedules.resume(id, actorOf(asked.given, asked.io))], asked),
  async trigger({ durably, given, io, now }, id) {
    const run = await durably.schedules.trigger(id, actorOf(given, io))
    io.out(given.has('json') ? JSON.stringify(run) : runTable(io, [run], now()))
    return undefined
  },
  async delete({ durably, given, io }, id) {
    await durably.schedules.delete(id, actorOf(given, io))
    io.out(given.has('json') ? JSON.stringify({ id }) : `schedule ${id} was deleted; its runs stay`)
    return undefined
  },
  async next({ durably, given, io }, id) {
    const times = await durably.schedules.next(id, given.wholeNumber('count', { max: 1000 }) ?? 5)
    io.out(given.has('json') ? JSON.stringify(times) : times.join('\n'))
    return undefined
  },
}

async function list(asked: Asked): Promise<undefined> {
  const { durably, given, io } = asked
  const found = await durably.schedules.list()
  if (found.length === 0 && !given.has('json')) io.err('there are no schedules')
  else show(found, asked)
}

function show(schedules: readonly Schedule[], { given, io, now }: Asked): undefined {
  if (given.has('json')) return void io.out(JSON.stringify(schedules))
  const nowMs = now()
  const columns = [
    { title: 'SCHEDULE', whole: true },
    { title: 'JOB' },
    { title: 'WHEN' },
    { title: 'NEXT' },
    { title: 'LAST' },
    { title: 'OVERLAP' },
  ]
  const rows = schedules.map(({ id, jobName, cron, every, timezone, paused, nextAt, lastScheduledFor, overlap }): (Cell | string)[] => [
    id,
    jobName,
    cron === null ? `every ${shownDuration(every ?? 0)}` : `${cron} (${timezone})`,
    paused ? { text: 'paused', color: 'yellow' } : relative(nextAt, nowMs),
    relative(lastScheduledFor, nowMs),
    overlap,
  ])
  io.out(table(io, columns, rows))
}
