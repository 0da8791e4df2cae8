// What a firing means on all databases: its guards as SQL, and its outcome.
import { type RawBuilder, sql } from 'kysely'
import type { RunRow } from '../../../model/run.ts'
import type { Firing, FiringOutcome } from '../../cluster/schedules.ts'
import type { Row } from './session.ts'
import type { Param } from './statement.ts'

export interface FiringValues {
  id: string
  version: number
  epoch: number
  last: number
  next: number
  now: number
  at: string
}

export function firingValues({ scheduleId, version, epoch, lastScheduledFor, nextAt }: Firing): Omit<FiringValues, 'now' | 'at'> {
  return { id: scheduleId, version, epoch, last: lastScheduledFor, next: nextAt }
}

/** C2 and C3, of the schedule `s`; the epoch of the leader is asked beside it. */
export function mayFire(p: Param<FiringValues>, now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`s.id = ${p('id')} AND s.version = ${p('version')} AND s.paused = 0 AND s.leader_epoch <= ${p('epoch')} AND ${p('last')} <= ${now}`
}

/** What a firing changes in the schedule `s`. */
export function used(p: Param<FiringValues>, now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`last_scheduled_for = CASE WHEN s.last_scheduled_for > ${p('last')} THEN s.last_scheduled_for ELSE ${p('last')} END, next_at = ${p('next')}, leader_epoch = ${p('epoch')}, version = ${p('version')} + 1, updated_at = ${now}`
}

/** `isMoved`: the schedule was written now. `state`: the schedule as it is, or was left, with the leader's epoch as `epoch`. */
export function firingOutcome(firing: Firing, isMoved: boolean, state: Row | undefined, found: readonly RunRow[]): FiringOutcome {
  const { epoch, version, lastScheduledFor, runs } = firing
  const is = (column: string, value: number) => state?.[column] != null && Number(state[column]) === value
  /** The version that the firing itself has written. */
  const isSentAgain = is('version', version + 1) && is('leader_epoch', epoch) && Number(state?.last_scheduled_for) >= lastScheduledFor
  if (isMoved || isSentAgain) return { outcome: 'fired', runs: inOrder(runs, found) }
  if (!is('epoch', epoch)) return { outcome: 'deposed' }
  const isSame = is('version', version) && is('paused', 0) && Number(state?.leader_epoch) <= epoch
  return { outcome: isSame ? 'early' : 'changed' }
}

export function inOrder(runs: readonly { id: string }[], found: readonly RunRow[]): RunRow[] {
  const byId = new Map(found.map((run) => [run.id, run]))
  return runs.flatMap(({ id }) => byId.get(id) ?? [])
}
