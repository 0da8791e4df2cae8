// The guards of the transitions as SQL: a statement names the move it makes, never a status of its own.
import { type RawBuilder, sql } from 'kysely'
import { TERMINAL_STATUSES } from '../../../model/run.ts'
import { type Move, TRANSITIONS } from '../../../model/transitions.ts'
import { LEASE_MS_MAX } from '../../runs.ts'
import type { Tables } from './schema.ts'
import type { Param } from './statement.ts'

/** The run `r` has a status from which this move can be made. */
export function canMove(move: Move): RawBuilder<unknown> {
  return isOneOf(sql`r.status`, TRANSITIONS[move].from)
}

export function target(move: Move): RawBuilder<unknown> {
  return sql.lit(TRANSITIONS[move].to)
}

export function eventType(move: Move): RawBuilder<unknown> {
  return sql.lit(TRANSITIONS[move].event)
}

export function isTerminal(status = sql`r.status`): RawBuilder<unknown> {
  return isOneOf(status, TERMINAL_STATUSES)
}

/** When the run `r`, or the one that triggered it, was asked to stop. */
export function cancelOf(t: Pick<Tables, 'runs'>): RawBuilder<unknown> {
  return sql`coalesce(r.cancel_requested_at, (SELECT parent.cancel_requested_at FROM ${t.runs} AS parent WHERE parent.id = r.parent_run_id))`
}

/** The run `r`, or the one with this status, has not ended. */
export function isActive(status?: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`NOT (${isTerminal(status)})`
}

/** The run `k` has its concurrency key (`keyInUse`), in the words of the index `runs_running_key`: without all of them Postgres may read every run. */
export const isKeyInUse = sql`(k.status = 'running' OR k.status = 'pending' AND k.hold_key = 1 AND k.lease_generation > k.retry_generation) AND k.concurrency_key IS NOT NULL`

/** A partial index is only found by `=`, so one value is not written as a list. */
export function isOneOf(column: RawBuilder<unknown>, values: readonly string[]): RawBuilder<unknown> {
  const [first, ...others] = values.map((value) => sql.lit(value))
  return others.length === 0 ? sql`${column} = ${first}` : sql`${column} IN (${sql.join([first, ...others])})`
}

/** A lease that ends then is over. One that ends further ahead than any lease can was written by a broken clock. */
export function isOver(
  leaseEnd: RawBuilder<unknown>,
  now: RawBuilder<unknown>,
  aheadMsMax: RawBuilder<unknown> = sql.lit(LEASE_MS_MAX),
): RawBuilder<unknown> {
  return sql`(${leaseEnd} <= ${now} OR ${leaseEnd} > ${now} + ${aheadMsMax})`
}

/** Has the running runs on SQLite, by id: the end of a lease is in no index, because each renewal would write it (ADR 0028). */
export const RUNNING_INDEX = 'runs_lease_end'

export interface OwnerParams {
  runId: string
  generation: number
  token: string
  number: number
}

/** W1: the lease is mine. Every owner move starts in the same status. */
export function isHeld(p: Param<Omit<OwnerParams, 'number'>>): RawBuilder<unknown> {
  return sql`r.id = ${p('runId')} AND ${canMove('complete')} AND r.lease_generation = ${p('generation')} AND r.lease_owner = ${p('token')}`
}

/** W1 and W2: the lease is mine and this write is new. */
export function isMine(p: Param<OwnerParams>): RawBuilder<unknown> {
  return sql`${isHeld(p)} AND r.lease_writes < ${p('number')}`
}
