// Diagnose — what is the matter with one run, by its row, the row of what it waits for, and what this process knows of itself.
import { iso } from '../../model/env.ts'
import { phase } from '../../model/phase.ts'
import { isoOrNull, isTerminal, type RunRow } from '../../model/run.ts'
import { type WaitingFor, waitsOf } from '../../model/waiting-for.ts'
import type { RunStore } from '../../store/runs.ts'
import type { Actor, Cause, Diagnosis, ProcessFacts, Remedy } from './explanation.ts'

/** How many children are looked at to find one that has not ended. */
const CHILDREN_MAX = 20

export interface Finding extends Diagnosis {
  waitingFor: WaitingFor[]
  /** The run that it waits for, if it waits for one that has not ended. */
  next: RunRow | null
}

const BY_ITSELF: Remedy = { do: 'wait', until: null }

export async function diagnose(runs: RunStore, row: RunRow, process: ProcessFacts, wallMs: number): Promise<Finding> {
  const waits = waitsOf(row, wallMs)
  const [first] = waits
  if (!first) return notWaiting(row, process, wallMs)
  if (first.kind === 'slot') return due(runs, row, process)
  const ofChild = first.kind === 'child' ? await unfinishedChild(runs, row, waits) : null
  return { ...parked(row, first), waitingFor: ofChild?.waits ?? waits, next: ofChild?.child ?? null }
}

function notWaiting(row: RunRow, { executes, isWorking }: ProcessFacts, wallMs: number): Finding {
  const { id, jobName } = row
  const found = (cause: Cause, since: number | null, actor: Actor, remedy: Remedy): Finding => ({
    ...{ cause, actor, remedy, waitingFor: [], next: null },
    since: since === null ? row.updatedAt : iso(since),
  })
  switch (phase(row, wallMs)) {
    case 'running':
      return found('executing', row.startedAt, 'worker', BY_ITSELF)
    case 'cancelling':
      return found('cancelling', row.cancelRequestedAt, 'worker', BY_ITSELF)
    case 'stale': {
      const isTakenBack = isWorking || executes(id)
      return found('lease over', row.leaseExpiresAt, isTakenBack ? 'worker' : 'operator', isTakenBack ? BY_ITSELF : startFor(jobName))
    }
    case 'confirming':
      return found('confirming', row.leaseExpiresAt === null ? null : row.leaseExpiresAt - (row.confirmMs ?? 0), 'worker', {
        do: 'wait',
        until: isoOrNull(goesOnAt(row)),
      })
    case 'failed':
      return found('ended', row.finishedAt, 'operator', { do: 'retry', runId: id })
    default:
      return found('ended', row.finishedAt, 'nobody', { do: 'nothing' })
  }
}

/** When a silent worker loses it, or later: if the store's clock was set back since it was claimed, it is not due by then. */
function goesOnAt({ continuationCheckDeadlineAt: lostAt, runAt }: RunRow): number | null {
  return lostAt === null ? null : Math.max(lostAt, runAt)
}

/** It is due, so it waits for its key or for a worker. */
async function due(runs: RunStore, row: RunRow, { hasJob, isWorking }: ProcessFacts): Promise<Finding> {
  const { jobName, concurrencyKey } = row
  const since = iso(Math.max(row.runAt, Date.parse(row.updatedAt)))
  const found = (cause: Cause, wait: WaitingFor, actor: Actor, remedy: Remedy, next: RunRow | null = null): Finding => ({
    ...{ cause, since, actor, remedy, next },
    waitingFor: [wait],
  })
  const holder = concurrencyKey === null ? null : await runs.getHolder(concurrencyKey)
  if (holder && holder.id !== row.id) return found('key', { kind: 'key', heldBy: holder.id }, 'worker', BY_ITSELF, holder)
  if (row.assignedWorkerId !== null)
    return { ...found('assigned', { kind: 'slot' }, 'worker', BY_ITSELF), since: iso(row.assignedAt ?? row.runAt) }
  if (!hasJob(jobName)) return found('unknown job', { kind: 'worker' }, 'operator', startFor(jobName))
  if (!isWorking) return found('worker', { kind: 'worker' }, 'operator', startFor(jobName))
  return found('slot', { kind: 'slot' }, 'worker', BY_ITSELF)
}

function parked({ id, updatedAt }: RunRow, first: WaitingFor): Diagnosis {
  const found = (actor: Actor, remedy: Remedy): Diagnosis => ({ cause: first.kind, since: updatedAt, actor, remedy })
  switch (first.kind) {
    case 'signal':
      return found('sender', { do: 'signal', runId: id, name: first.name })
    case 'decision':
      return found('decider', { do: 'decide', runId: id, step: first.step })
    default:
      return found('until' in first ? 'time' : 'worker', { do: 'wait', until: 'until' in first ? first.until : null })
  }
}

/** The first child that has not ended, and the waits with it in front. */
async function unfinishedChild(
  runs: RunStore,
  row: RunRow,
  waits: readonly WaitingFor[],
): Promise<{ child: RunRow; waits: WaitingFor[] } | null> {
  for (const wait of waits.filter(({ kind }) => kind === 'child').slice(0, CHILDREN_MAX)) {
    if (wait.kind !== 'child') continue
    const child = await runs.getChild(row.id, wait.step)
    if (!child || isTerminal(child.status)) continue
    const named: WaitingFor = { ...wait, runId: child.id, jobName: child.jobName }
    return { child, waits: [named, ...waits.filter((other) => other !== wait)] }
  }
  return null
}

function startFor(jobName: string): Remedy {
  return { do: 'start a worker', jobName }
}
