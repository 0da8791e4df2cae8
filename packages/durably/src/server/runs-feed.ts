// GET /events?job&status&limit: the newest runs that match and may be read, first all of them, then what changed. A state and
// not a log: who connects again begins anew.
import { isAllowed } from './authorize.ts'
import { pageFilter } from './list-runs.ts'
import { DENIED, openStream } from './open-stream.ts'
import { RunsSource } from './runs-source.ts'
import { shownTo } from './shown-run.ts'
import { ofAll } from './visible-run.ts'

export const runsFeed = ofAll('runs:list', async (call) => {
  const { server, request, query } = call
  const { authorize } = server.config
  const source = new RunsSource({
    filter: pageFilter(query),
    watch: (filter, signal) => server.durably.watchRuns(filter, { signal }),
    mayRead: (run) => isAllowed(authorize, request, 'runs:read', run),
    shown: await shownTo(call),
  })
  return openStream(call, source, async (stream) => {
    if (await isAllowed(authorize, request, 'runs:list')) source.askAgain()
    else stream.end(DENIED)
  })
})
