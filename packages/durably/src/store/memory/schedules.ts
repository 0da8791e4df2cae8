import type { RunRow } from '../../model/run.ts'
import type { ScheduleDefinition, ScheduleRow } from '../../model/schedule.ts'
import type { Audited } from '../cluster/audit.ts'
import type {
  Firing,
  FiringOutcome,
  FoundSchedules,
  NewSchedule,
  ScheduledRun,
  ScheduleOutcome,
  ScheduleQuery,
  ScheduleSwitch,
  ScheduleTrigger,
  TriggerOutcome,
} from '../cluster/schedules.ts'
import { newRow } from '../new-row.ts'
import { record } from './audit.ts'
import { byId } from './orders.ts'
import type { Tables } from './tables.ts'

export function findSchedules({ schedules, nowMs }: Tables, { id, due, after = '', limit }: ScheduleQuery): FoundSchedules {
  const found = Array.from(schedules.values()).filter(
    (row) => (id === undefined || row.id === id) && row.id > after && (!due || (!row.paused && row.nextAt <= nowMs)),
  )
  const order = due ? (a: ScheduleRow, b: ScheduleRow) => a.nextAt - b.nextAt || byId(a, b) : byId
  return {
    nowMs,
    schedules: found
      .sort(order)
      .slice(0, limit)
      .map((row) => ({ ...row })),
  }
}

export function putSchedule(tables: Tables, schedule: NewSchedule, options: Audited = {}): ScheduleOutcome {
  const { id, version, nextAt, ...definition } = schedule
  const known = tables.schedules.get(id)
  if ((known?.version ?? null) !== version) return changed(known)
  return write(tables, known ? { ...known, ...definition, nextAt } : newSchedule(tables, id, definition, nextAt), options)
}

function newSchedule({ nowMs }: Tables, id: string, definition: ScheduleDefinition, nextAt: number): ScheduleRow {
  const unused = { paused: false, lastScheduledFor: null, version: 0, leaderEpoch: 0 }
  return { id, ...definition, ...unused, nextAt, createdAt: nowMs, updatedAt: nowMs }
}

export function switchSchedule(tables: Tables, change: ScheduleSwitch, options: Audited = {}): ScheduleOutcome {
  const { id, version, paused, nextAt } = change
  const known = tables.schedules.get(id)
  return known?.version === version ? write(tables, { ...known, paused, nextAt }, options) : changed(known)
}

export function deleteSchedule(tables: Tables, id: string, version: number, options: Audited = {}): ScheduleOutcome {
  const known = tables.schedules.get(id)
  if (known?.version !== version) return changed(known)
  tables.schedules.delete(id)
  record(tables, options, null)
  return { outcome: 'done', schedule: known }
}

/** A schedule grows by one version with every write. */
function write(tables: Tables, row: ScheduleRow, options: Audited = {}): ScheduleOutcome {
  const written = { ...row, version: row.version + 1, updatedAt: tables.nowMs }
  tables.schedules.set(row.id, written)
  record(tables, options, written.version)
  return { outcome: 'done', schedule: { ...written } }
}

function changed(known: ScheduleRow | undefined): { outcome: 'changed'; version: number | null } {
  return { outcome: 'changed', version: known?.version ?? null }
}

export function fireSchedule(tables: Tables, firing: Firing): FiringOutcome {
  const { epoch, scheduleId, version, runs, lastScheduledFor, nextAt } = firing
  const known = tables.schedules.get(scheduleId)
  if (known && isSentAgain(known, firing)) return fired(tables, runs)
  if (tables.leader?.epoch !== epoch) return { outcome: 'deposed' }
  if (!known || known.version !== version || known.paused || known.leaderEpoch > epoch) return { outcome: 'changed' }
  if (lastScheduledFor > tables.nowMs) return { outcome: 'early' }
  const isBusy = tables.isScheduleBusy(scheduleId)
  runs.forEach((run, i) => {
    const isSkipped = known.overlap === 'skip' && (isBusy || i > 0)
    if (!isSkipped && isUnused(tables, known, run)) insert(tables, scheduleId, run)
  })
  write(tables, {
    ...known,
    lastScheduledFor: Math.max(lastScheduledFor, known.lastScheduledFor ?? lastScheduledFor),
    nextAt,
    leaderEpoch: epoch,
  })
  return fired(tables, runs)
}

/** The version that the firing itself has written. */
function isSentAgain(known: ScheduleRow, { epoch, version, lastScheduledFor }: Firing): boolean {
  return known.version === version + 1 && known.leaderEpoch === epoch && (known.lastScheduledFor ?? -1) >= lastScheduledFor
}

function isUnused(tables: Tables, { id, lastScheduledFor }: ScheduleRow, { scheduledFor }: ScheduledRun): boolean {
  if (scheduledFor === null) return false
  return scheduledFor > (lastScheduledFor ?? Number.NEGATIVE_INFINITY) && !tables.known.hasSlot({ scheduleId: id, scheduledFor })
}

function fired({ records }: Tables, runs: readonly ScheduledRun[]): FiringOutcome {
  return { outcome: 'fired', runs: runs.flatMap(({ id }) => copies(records.get(id)?.row)) }
}

function copies(row: RunRow | undefined): RunRow[] {
  return row ? [{ ...row }] : []
}

export function triggerSchedule(tables: Tables, trigger: ScheduleTrigger, options: Audited = {}): TriggerOutcome {
  const { scheduleId, version, run } = trigger
  const known = tables.schedules.get(scheduleId)
  const sentBefore = tables.records.get(run.id)
  if (!sentBefore && known?.version !== version) return changed(known)
  if (!sentBefore) record(tables, options, version)
  return { outcome: 'triggered', run: { ...(sentBefore?.row ?? insert(tables, scheduleId, run)) } }
}

function insert(tables: Tables, scheduleId: string, { scheduledFor, ...run }: ScheduledRun): RunRow {
  const nothing = {
    idempotencyKey: null,
    holdKey: false,
    delayMs: null,
    deadlineMs: null,
    deadlineAt: null,
    parentRunId: null,
    parentStep: null,
    parentToken: null,
  }
  const row: RunRow = { ...newRow({ ...nothing, ...run }, tables.nowMs), scheduleId, scheduledFor }
  return tables.insert(row, [{ type: 'run:trigger', payload: {}, createdAt: tables.nowIso }]).row
}
