// Every migration, in order; the position is its version. Released ones are never edited.
import type { RawBuilder } from 'kysely'
import type { SqlDeps } from '../shared/deps.ts'
import { runsStepsLogsEvents } from './0001-runs-steps-logs-events.ts'
import { streams } from './0002-streams.ts'
import { retriesWaitsSignals } from './0003-retries-waits-signals.ts'
import { manualRetries } from './0004-manual-retries.ts'
import { stepsOfChildren } from './0005-steps-of-children.ts'

export type Migration = (deps: Pick<SqlDeps, 'tables' | 'syntax'>) => RawBuilder<unknown>[]

export const MIGRATIONS: readonly Migration[] = [runsStepsLogsEvents, streams, retriesWaitsSignals, manualRetries, stepsOfChildren]
