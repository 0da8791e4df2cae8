import type { Durably, Run } from '@coji/durably'
import { AdvisedCommands } from '../advised-commands.ts'
import type { Command } from '../command.ts'
import { readDecisions } from '../decisions.ts'
import type { Given } from '../given.ts'
import { noSuchRun } from '../no-such-run.ts'
import { withDurably } from '../open.ts'
import type { Io } from '../output/io.ts'
import { showRun } from '../output/show-run.ts'
import type { Place } from '../place.ts'
import { readEvents } from '../read-events.ts'
import { timelineOf, withDecisions } from '../timeline.ts'

/** Shown at the end of the page; `--json` has as many. */
const LOGS_MAX = 1000

export const run: Command = {
  name: 'run',
  summary: 'show one run: its steps, attempts, owners and logs in the order of time',
  args: [{ name: 'id', what: 'the id of the run' }],
  options: { follow: { short: 'f', what: 'show it again whenever something happens, until it has ended' } },
  examples: [
    'durably run 01JCZX3P0V6S6V7M3YB8Q8Y3GT',
    'durably run 01JCZX3P0V6S6V7M3YB8Q8Y3GT --follow',
    'durably run 01JCZX3P0V6S6V7M3YB8Q8Y3GT --json | jq .steps',
  ],
  run: (given, io) =>
    withDurably(given, io, async (durably, place) => {
      const id = given.arg('id')
      const found = await durably.getRun(id)
      if (!found) throw noSuchRun(id, new AdvisedCommands(place))
      if (given.has('follow')) return follow({ durably, given, io, place }, found)
      io.out(await page({ durably, given, io, place }, found))
      return undefined
    }),
}

interface Asked {
  durably: Durably
  given: Given
  io: Io
  place: Place
}

async function page({ durably, given, io, place }: Asked, found: Run): Promise<string> {
  const [events, logs] = [await readEvents(durably, found), await durably.getLogs(found.id, { limit: LOGS_MAX })]
  const timeline = withDecisions(timelineOf(events), await readDecisions(durably, place, found.id))
  if (!given.has('json')) return showRun(io, found, timeline, logs, place.now())
  return JSON.stringify({ run: found, steps: await durably.getSteps(found.id), logs, timeline })
}

/** On a terminal the page is drawn anew; elsewhere, and with `--json`, each event is one line. */
async function follow(asked: Asked, found: Run): Promise<undefined> {
  const { durably, given, io } = asked
  try {
    for await (const event of durably.subscribe(found.id, { signal: io.interrupted })) {
      if (given.has('json') || !io.isTerminal) io.out(JSON.stringify(event))
      else if (event.sequence >= found.lastEventSequence) await redraw(asked, found.id)
    }
  } catch (error) {
    if (!io.interrupted.aborted) throw error
  }
}

async function redraw(asked: Asked, id: string): Promise<void> {
  const found = await asked.durably.getRun(id)
  if (!found) return
  const text = await page(asked, found)
  asked.io.clear()
  asked.io.out(text)
}
