// What readers of event logs ask for. A notification wakes many of them at once: what they read then is one statement, however many they are.
import { sql } from 'kysely'
import type { EventPage } from '../../../events.ts'
import type { GroupedReads } from '../../shared/assemble-store.ts'
import type { SqlDeps } from '../../shared/deps.ts'
import { ReadGroup } from '../../shared/read-group.ts'
import { eventRow, runRow, stepRow } from '../../shared/rows.ts'

export function groupedReads(deps: SqlDeps): GroupedReads {
  return { runs: groupedRuns(deps), steps: groupedSteps(deps), events: groupedEvents(deps) }
}

function groupedRuns({ statement, session, tables: t, syntax }: SqlDeps): GroupedReads['runs'] {
  const read = statement<{ ids: readonly string[] }>(
    (p) => sql`SELECT r.*, wanted.place${syntax.readAt} FROM unnest(${p('ids')}::text[]) WITH ORDINALITY AS wanted(id, place)
      JOIN ${t.runs} AS r ON r.id = wanted.id`,
  )
  const group = new ReadGroup<string>({ textOf: (id) => id, read: (ids) => session.read(read({ ids })) })
  return {
    async get(id) {
      const [row] = await group.rows(id)
      return row ? runRow(row) : null
    },
  }
}

interface WantedSteps {
  runId: string
  ids: readonly string[]
}

function groupedSteps({ statement, session, tables: t }: SqlDeps): GroupedReads['steps'] {
  const read = statement<{ places: readonly string[]; runIds: readonly string[]; ids: readonly string[] }>(
    (
      p,
    ) => sql`SELECT s.*, wanted.place FROM unnest(${p('places')}::int[], ${p('runIds')}::text[], ${p('ids')}::text[]) AS wanted(place, run_id, id)
      JOIN ${t.steps} AS s ON s.id = wanted.id AND s.run_id = wanted.run_id`,
  )
  const group = new ReadGroup<WantedSteps>({
    textOf: ({ runId, ids }) => JSON.stringify([runId, ids]),
    read: (asked) => {
      const wanted = asked.flatMap(({ runId, ids }, i) => ids.map((id) => ({ place: String(i + 1), runId, id })))
      const [places, runIds, ids] = [wanted.map(({ place }) => place), wanted.map(({ runId }) => runId), wanted.map(({ id }) => id)]
      return session.read(read({ places, runIds, ids }))
    },
  })
  return { find: async (runId, ids) => (await group.rows({ runId, ids })).map(stepRow) }
}

type WantedEvents = { runId: string } & Required<EventPage>

function groupedEvents({ statement, session, tables: t }: SqlDeps): GroupedReads['events'] {
  const read = statement<{ runIds: readonly string[]; afters: readonly string[]; limits: readonly string[] }>(
    (p) => sql`SELECT page.*, wanted.place
      FROM unnest(${p('runIds')}::text[], ${p('afters')}::bigint[], ${p('limits')}::bigint[]) WITH ORDINALITY AS wanted(run_id, after, most, place)
      CROSS JOIN LATERAL (
        SELECT * FROM ${t.events} AS e WHERE e.run_id = wanted.run_id AND e.seq > wanted.after ORDER BY e.seq LIMIT wanted.most
      ) AS page ORDER BY wanted.place, page.seq`,
  )
  const group = new ReadGroup<WantedEvents>({
    textOf: ({ runId, after, limit }) => JSON.stringify([runId, after, limit]),
    read: (asked) => {
      const [afters, limits] = [asked.map(({ after }) => String(after)), asked.map(({ limit }) => String(limit))]
      return session.read(read({ runIds: asked.map(({ runId }) => runId), afters, limits }))
    },
  })
  return {
    list: async (runId, { after = 0, limit = Number.MAX_SAFE_INTEGER } = {}) => (await group.rows({ runId, after, limit })).map(eventRow),
  }
}
