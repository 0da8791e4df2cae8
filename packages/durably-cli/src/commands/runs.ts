import type { Durably, Run } from '@coji/durably'
import type { Command } from '../command.ts'
import { CONDITIONS, conditionsOf } from '../conditions.ts'
import { UsageError } from '../exit-code.ts'
import type { Given } from '../given.ts'
import { withDurably } from '../open.ts'
import type { Io } from '../output/io.ts'
import { paint } from '../output/paint.ts'
import { runTable } from '../output/run-table.ts'

const LIMIT = 20

export const runs: Command = {
  name: 'runs',
  summary: 'list runs, the newest first',
  options: {
    ...CONDITIONS,
    limit: { value: 'number', short: 'n', what: `how many at most; ${LIMIT} by default` },
    cursor: { value: 'run id', what: 'the run before the page: the last one of the page before' },
    watch: { short: 'w', what: 'show the list again whenever it changes, until Ctrl-C' },
  },
  examples: [
    'durably runs --db app.db',
    'durably runs --phase failed --since 1d --job import',
    'durably runs --label tenant=acme --watch',
    'durably runs --json --limit 100 | jq .[].id',
  ],
  run: (given, io) =>
    withDurably(given, io, async (durably, { now }) => {
      const limit = given.wholeNumber('limit', { max: given.has('watch') ? 200 : 100_000 }) ?? LIMIT
      const filter = { ...conditionsOf(given, now()), limit, values: given.has('json') }
      const cursor = given.text('cursor')
      if (cursor !== undefined && given.has('watch')) throw new UsageError('--cursor and --watch do not go together')
      if (given.has('watch')) return watch(durably, filter, given, io, now)
      const found = await durably.getRuns({ ...filter, ...(cursor !== undefined && { cursor }) })
      if (given.has('json')) io.out(JSON.stringify(found))
      else show(found, limit, io, now())
      return undefined
    }),
}

function show(found: readonly Run[], limit: number, io: Io, nowMs: number): void {
  if (found.length === 0) return io.err('no runs match')
  io.out(runTable(io, found, nowMs))
  if (found.length === limit) io.err(paint(io, 'dim', `more may follow: --cursor ${found.at(-1)?.id}`))
}

/** With `--json` one line for each list. */
async function watch(
  durably: Durably,
  filter: Parameters<Durably['watchRuns']>[0],
  given: Given,
  io: Io,
  now: () => number,
): Promise<undefined> {
  try {
    for await (const found of durably.watchRuns(filter, { signal: io.interrupted })) {
      if (given.has('json')) io.out(JSON.stringify(found))
      else {
        io.clear()
        io.out(found.length === 0 ? 'no runs match yet' : runTable(io, found, now()))
        if (!io.isTerminal) io.out('')
      }
    }
  } catch (error) {
    if (!io.interrupted.aborted) throw error
  }
}
