import { applyMany } from './apply-many.ts'
import { cancelRetryDelete } from './cancel-retry-delete.ts'
import type { Chapter } from './chapter.ts'
import { claimChapter } from './claim.ts'
import { claimMany } from './claim-many.ts'
import { createChapter } from './create.ts'
import { eventsChapter } from './events.ts'
import { fencing } from './fencing.ts'
import { logsChapter } from './logs.ts'
import { ownerWrites } from './owner-writes.ts'
import { probeChapter } from './probe.ts'
import { queries } from './queries.ts'
import { reapChapter } from './reap.ts'
import { streamEnds } from './stream-ends.ts'
import { streams } from './streams.ts'
import { transitions } from './transitions.ts'
import { unknownOutcome } from './unknown-outcome.ts'
import { values } from './values.ts'
import { withoutEventLog } from './without-event-log.ts'

export const storeContract: Chapter[] = [
  createChapter,
  claimChapter,
  claimMany,
  ownerWrites,
  applyMany,
  fencing,
  reapChapter,
  cancelRetryDelete,
  transitions,
  eventsChapter,
  streams,
  streamEnds,
  logsChapter,
  queries,
  probeChapter,
  values,
  unknownOutcome,
  withoutEventLog,
]
