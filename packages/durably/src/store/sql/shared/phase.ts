// The phase of the run `r` as SQL, like `phase(row, now)` in model/phase.ts; a test compares the two.
import { type RawBuilder, sql } from 'kysely'
import { PHASES, type Phase } from '../../../model/phase.ts'
import type { RunStatus } from '../../../model/run.ts'

type Fragment = RawBuilder<unknown>

const awaitsSignal = sql`(coalesce(r.waiting_for, '') LIKE '%"kind":"signal"%' OR coalesce(r.waiting_for, '') LIKE '%"kind":"child"%')`

/** How to tell apart the phases that share a status; every other status has one phase. */
const WHEN: { readonly [phase in Phase]?: { status: RunStatus; is: (now: Fragment) => Fragment } } = {
  pending: { status: 'pending', is: (now) => sql`r.run_at <= ${now} AND r.assigned_at IS NULL` },
  assigned: { status: 'pending', is: (now) => sql`r.run_at <= ${now} AND r.assigned_at IS NOT NULL AND r.assigned_worker_id IS NOT NULL` },
  orphaned: { status: 'pending', is: (now) => sql`r.run_at <= ${now} AND r.assigned_at IS NOT NULL AND r.assigned_worker_id IS NULL` },
  sleeping: { status: 'pending', is: (now) => sql`r.run_at > ${now} AND NOT ${awaitsSignal}` },
  waiting: { status: 'pending', is: (now) => sql`r.run_at > ${now} AND ${awaitsSignal}` },
  running: {
    status: 'running',
    is: (now) => sql`r.lease_expires_at > ${now} AND r.continuation_state IS NULL AND r.cancel_requested_at IS NULL`,
  },
  cancelling: {
    status: 'running',
    is: (now) => sql`r.lease_expires_at > ${now} AND r.continuation_state IS NULL AND r.cancel_requested_at IS NOT NULL`,
  },
  confirming: { status: 'running', is: (now) => sql`r.lease_expires_at > ${now} AND r.continuation_state IS NOT NULL` },
  stale: { status: 'running', is: (now) => sql`r.lease_expires_at <= ${now}` },
}

export function statusOf(phase: Phase): RunStatus {
  return WHEN[phase]?.status ?? (phase as RunStatus)
}

export function isPhase(phase: Phase, now: Fragment): Fragment {
  return WHEN[phase]?.is(now) ?? sql`true`
}

export function phaseOf(now: Fragment): Fragment {
  const cases = PHASES.map((phase) => sql`WHEN r.status = ${sql.lit(statusOf(phase))} AND ${isPhase(phase, now)} THEN ${sql.lit(phase)}`)
  return sql`CASE ${sql.join(cases, sql` `)} END`
}
