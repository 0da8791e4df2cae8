import type { Durably } from '@coji/durably'
import { AdvisedCommands } from '../advised-commands.ts'
import type { Place } from '../place.ts'
import { type TableNames, tableNames } from '../table-names.ts'
import { PendingRuns } from './pending-runs.ts'

/** What one check has found. */
export interface Finding {
  /** What was looked at. */
  check: string
  /** `bad`: something does not work. `warn`: it works, but somebody should know. */
  state: 'ok' | 'warn' | 'bad'
  what: string
  /** What to do, one deed a line; null if there is nothing to do. */
  remedy: string | null
}

export interface Patient {
  durably: Durably
  place: Place
  tables: TableNames
  /** The time of the database, in milliseconds. */
  nowMs: number
  pending: PendingRuns
  commands: AdvisedCommands
}

export function patientOf(durably: Durably, place: Place, nowMs: number): Patient {
  const pending = new PendingRuns({ durably, place }, nowMs)
  return { durably, place, tables: tableNames(place), nowMs, pending, commands: new AdvisedCommands(place) }
}

export type Check = (patient: Patient) => Promise<Finding>

export function ok(check: string, what: string): Finding {
  return { check, state: 'ok', what, remedy: null }
}

export function warn(check: string, what: string, remedy: string): Finding {
  return { check, state: 'warn', what, remedy }
}

export function bad(check: string, what: string, remedy: string): Finding {
  return { check, state: 'bad', what, remedy }
}
