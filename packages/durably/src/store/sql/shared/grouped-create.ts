// groupedCreate — stores the runs that are created at the same time by one statement, and so by one commit.
//   T1. Calls of one turn share a statement; a call does not wait for others. Each is answered after the commit.
//   T2. If the shared call fails, each is sent by itself: a run is known by its id, so one that was stored nevertheless is not stored twice, and
//       only the bad one fails.
//   T3. Only small single runs are grouped: a batch, a large payload, or a transaction of the caller goes alone.
//   T4. A store that is closed in the same turn sends the group first.
import type { Created, NewRun, RunStore } from '../../runs.ts'

const GROUP_MAX = 100
const PAYLOAD_CHARS_MAX = 10_000

interface Group {
  members: NewRun[]
  created: Promise<Created[]>
}

export function groupedCreate(create: RunStore['create']): RunStore['create'] {
  /** The group that the next call joins. */
  let open: Group | null = null

  function begin(): Group {
    const members: NewRun[] = []
    // T1. The other calls of this turn come first.
    const created = Promise.resolve().then(() => {
      if (open?.members === members) open = null
      return create(members)
    })
    return { members, created }
  }

  return async (given, options) => {
    const [run] = given
    if (!run || given.length > 1 || options?.within !== undefined || (run.payload?.length ?? 0) > PAYLOAD_CHARS_MAX)
      return create(given, options)
    if (!open || open.members.length === GROUP_MAX) open = begin()
    const { members, created } = open
    const place = members.push(run) - 1
    try {
      return (await created).slice(place, place + 1)
    } catch (error) {
      if (members.length === 1) throw error
      return create(given)
    }
  }
}
