// GET /events with the filter of GET /runs: the newest runs that match and that the caller may read; first the whole list, then its changes. It is a
// state, not a log: a reader that reconnects gets the whole list again.
import { isAllowed } from './authorize.ts'
import { pageFilter } from './filter-query.ts'
import { listedValues } from './listed-values.ts'
import { DENIED, openEventStream } from './open-event-stream.ts'
import { RunListSource } from './run-list-source.ts'
import { shownTo } from './shown-run.ts'
import { ofAll } from './visible-run.ts'

export const runListFeed = ofAll('runs:list', async (call) => {
  const { server, request } = call
  const { authorize } = server.config
  const { filter, listed } = listedValues(server.config, await pageFilter(call))
  const shown = await shownTo(call)
  const source = new RunListSource({
    filter,
    watch: (filter, signal) => server.durably.watchRuns(filter, { signal }),
    mayRead: (run) => isAllowed(authorize, request, 'runs:read', run),
    shown: { run: (run) => shown.run(listed(run)) },
  })
  return openEventStream(call, source, async (stream) => {
    if (await isAllowed(authorize, request, 'runs:list')) source.authorizeAgain()
    else stream.end(DENIED)
  })
})
