import type { Duration, TerminalStatus } from '@coji/durably'
import type { Command } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import { withDurably } from '../open.ts'
import { counted } from '../output/plural.ts'

/** Removed in one call, between two reports. */
const PAGE = 500
const STATUSES: readonly TerminalStatus[] = ['completed', 'failed', 'cancelled']

export const purge: Command = {
  name: 'purge',
  summary: 'remove runs that ended long ago, with everything that belongs to them',
  options: {
    'older-than': { value: 'duration', what: 'how long ago they must have ended: 12h, 30d' },
    status: { value: 'status', many: true, choices: STATUSES, what: 'only runs that ended like this' },
    limit: { value: 'number', short: 'n', what: 'how many at most; all by default' },
  },
  examples: ['durably purge --older-than 30d', 'durably purge --older-than 7d --status completed --limit 10000'],
  run: (given, io) =>
    withDurably(given, io, async (durably) => {
      const olderThan = given.text('older-than')
      if (olderThan === undefined) throw new UsageError('--older-than is missing: how long ago the runs must have ended, such as 30d')
      const status = given.texts('status') as TerminalStatus[]
      const limit = given.wholeNumber('limit') ?? Number.POSITIVE_INFINITY
      let count = 0
      for (let removed = PAGE; removed === PAGE && count < limit && !io.interrupted.aborted; ) {
        const page = Math.min(PAGE, limit - count)
        removed = await durably.purge({ olderThan: olderThan as Duration, limit: page, ...(status.length > 0 && { status }) })
        count += removed
        io.status(`${counted(count, 'run')} removed …`)
      }
      io.status('')
      io.out(given.has('json') ? JSON.stringify({ count }) : `${counted(count, 'run')} removed`)
      return undefined
    }),
}
