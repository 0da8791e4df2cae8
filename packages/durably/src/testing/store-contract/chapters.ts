import { applyMany } from './apply-many.ts'
import { archiveChapter } from './archive.ts'
import { assignChapter } from './assign.ts'
import { auditChapter } from './audit.ts'
import { cancelRetryDelete } from './cancel-retry-delete.ts'
import { cancelledFamilies } from './cancelled-families.ts'
import type { Chapter } from './chapter.ts'
import { children } from './children.ts'
import { childrenOfSteps } from './children-of-steps.ts'
import { claimChapter } from './claim.ts'
import { claimMany } from './claim-many.ts'
import { confirming } from './confirming.ts'
import { counts } from './counts.ts'
import { createChapter } from './create.ts'
import { createWithin } from './create-within.ts'
import { deadlines } from './deadlines.ts'
import { definitionsChapter } from './definitions.ts'
import { dueJobsChapter } from './due-jobs.ts'
import { dueTimes } from './due-times.ts'
import { effectsChapter } from './effects.ts'
import { eventsChapter } from './events.ts'
import { fencing } from './fencing.ts'
import { fireChapter } from './fire.ts'
import { heldKeys } from './held-keys.ts'
import { inboxChapter } from './inbox.ts'
import { keptChildren } from './kept-children.ts'
import { labels } from './labels.ts'
import { leadersChapter } from './leaders.ts'
import { logsChapter } from './logs.ts'
import { oldestDueChapter } from './oldest-due.ts'
import { ownerWrites } from './owner-writes.ts'
import { pages } from './pages.ts'
import { parking } from './parking.ts'
import { preferencesChapter } from './preferences.ts'
import { probeChapter } from './probe.ts'
import { purge } from './purge.ts'
import { queries } from './queries.ts'
import { reapChapter } from './reap.ts'
import { schedulesChapter } from './schedules.ts'
import { settingsChapter } from './settings.ts'
import { signalsChapter } from './signals.ts'
import { streamEnds } from './stream-ends.ts'
import { streams } from './streams.ts'
import { transactions } from './transactions.ts'
import { transitions } from './transitions.ts'
import { unknownOutcome } from './unknown-outcome.ts'
import { values } from './values.ts'
import { versions } from './versions.ts'
import { waitedFor } from './waited-for.ts'
import { withoutEventLog } from './without-event-log.ts'
import { workersChapter } from './workers.ts'

/** All cases that a store must pass, in chapters, for test runners that `describeStore` does not fit. */
export const storeContract: Chapter[] = [
  createChapter,
  claimChapter,
  claimMany,
  ownerWrites,
  applyMany,
  fencing,
  reapChapter,
  confirming,
  cancelRetryDelete,
  versions,
  transitions,
  dueTimes,
  parking,
  heldKeys,
  signalsChapter,
  deadlines,
  children,
  childrenOfSteps,
  cancelledFamilies,
  keptChildren,
  effectsChapter,
  transactions,
  createWithin,
  eventsChapter,
  streams,
  streamEnds,
  logsChapter,
  pages,
  queries,
  labels,
  waitedFor,
  counts,
  purge,
  archiveChapter,
  probeChapter,
  oldestDueChapter,
  dueJobsChapter,
  values,
  unknownOutcome,
  withoutEventLog,
  leadersChapter,
  schedulesChapter,
  fireChapter,
  workersChapter,
  assignChapter,
  preferencesChapter,
  inboxChapter,
  definitionsChapter,
  settingsChapter,
  auditChapter,
]
