// GET /events: the logs of the runs that are named, or, when none is, the feed of all that match.
import type { Serve } from './call.ts'
import { manyEvents } from './many-events.ts'
import { runListFeed } from './run-list-feed.ts'

export const events: Serve = (call) => (call.query.has('run') ? manyEvents(call) : runListFeed(call))
