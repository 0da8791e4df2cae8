import type { Durably } from '@coji/durably'
import type { Place } from '../place.ts'
import type { TableNames } from './table-names.ts'

/** What one check has found. */
export interface Finding {
  /** What was looked at. */
  check: string
  /** `bad`: something does not work. `warn`: it works, but somebody should know. */
  state: 'ok' | 'warn' | 'bad'
  what: string
  /** What to do; null if there is nothing to do. */
  remedy: string | null
}

export interface Patient {
  durably: Durably
  place: Place
  tables: TableNames
  /** The time of the database, in milliseconds. */
  nowMs: number
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
