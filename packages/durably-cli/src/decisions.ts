// What somebody said of effects in doubt. The event log has no events for it: a decision is kept as a signal of a name of its own.
import type { Durably } from '@coji/durably'
import { sql } from 'kysely'
import type { Place } from './place.ts'
import { tableNames } from './table-names.ts'

export interface MadeDecision {
  at: string
  step: string
  /** What was said of it, in words. */
  said: string
}

/** `decision/`, the lease in which the effect began, `/`, the name of the step. */
const NAME = /^decision\/\d+\/(.*)$/s

export async function readDecisions(durably: Durably, place: Place, runId: string): Promise<MadeDecision[]> {
  const { rows } = await sql<{ name: string; value: string | null; created_at: string }>`
    SELECT name, value, created_at FROM ${tableNames(place)('signals')}
    WHERE run_id = ${runId} AND name LIKE 'decision/%' ORDER BY created_at, name`.execute(durably.db)
  return rows.map(({ name, value, created_at }) => ({ at: created_at, step: NAME.exec(name)?.[1] ?? name, said: said(value) }))
}

function said(value: string | null): string {
  const decision: unknown = JSON.parse(value ?? 'null')
  if (decision === 'run again') return 'it did not take place, and runs again'
  if (typeof decision === 'object' && decision !== null && 'failed' in decision) return `it failed: ${String(decision.failed)}`
  return 'it took place'
}
