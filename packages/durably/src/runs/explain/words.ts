// Words — an explanation in a few lines for people: one for each run of the chain, and what to do at the end.
import { iso } from '../../model/env.ts'
import type { WaitingFor } from '../../model/waiting-for.ts'
import type { Link } from './explain-run.ts'
import type { FailedAttempts, ProcessFacts } from './explanation.ts'

const ERROR_CHARS_MAX = 200

export function textOf(link: Link, process: ProcessFacts): string {
  const { run, since, waitingFor } = link
  const others = waitingFor.slice(1).map(waitOf)
  const isCut = run.status === 'pending' && run.deadlineAt !== null
  return [
    `Run ${run.id} of job ${quoted(run.jobName)} ${stateOf(link, process)}, since ${since}.`,
    ...(others.length > 0 ? [`It also waits for ${others.slice(0, 5).join(', ')}${others.length > 5 ? ', …' : ''}.`] : []),
    ...(run.status === 'pending' && run.cancelRequestedAt !== null ? ['It was asked to stop: the worker that takes it ends it.'] : []),
    ...(isCut ? [`It must have ended by ${run.deadlineAt}, its deadline; else it fails.`] : []),
  ].join('\n')
}

function stateOf({ cause, run, row, waitingFor: [wait], failedAttempts }: Link, process: ProcessFacts): string {
  const { slots, freeSlots, executes } = process
  const where = executes(run.id) ? 'in this process' : 'in another process'
  const lease = `lease ${quoted(row.leaseOwner ?? '')} until ${isoOf(row.leaseExpiresAt)}`
  switch (cause) {
    case 'unknown job':
      return 'is due, but this process has no job of that name'
    case 'worker':
      return 'is due, but this process executes no runs'
    case 'slot':
      return freeSlots > 0 ? 'is due, and a worker will take it' : `is due, but all ${slots} slots of this process are taken`
    case 'executing':
      return `executes ${where} (${lease})`
    case 'cancelling':
      return `was asked to stop, and its function has not ended yet; it executes ${where} (${lease})`
    case 'lease over':
      return `has lost its worker (${lease}), and nobody has taken it back`
    case 'assigned':
      return `is assigned to worker ${quoted(row.assignedWorkerId ?? '')}, which has not started it; if that worker is gone, a leader chooses another one`
    case 'confirming':
      return `is held by worker ${quoted(run.workerId ?? '')}, which is silent and may come back until ${isoOf(row.continuationCheckDeadlineAt)}`
    case 'ended':
      return run.status === 'failed'
        ? `has failed: ${shortened(run.error)}`
        : run.status === 'completed'
          ? 'has completed'
          : 'was cancelled'
    case 'retry':
    case 'step retry':
      return `waits for ${wait ? waitOf(wait) : ''}${failedAttempts ? `, after ${attemptsOf(failedAttempts)}` : ''}`
    case 'key':
      return `is due, but waits for its concurrency key ${quoted(run.concurrencyKey ?? '')}, held by ${otherRun(wait)}`
    default:
      return `waits for ${wait ? waitOf(wait) : 'nothing'}`
  }
}

function waitOf(wait: WaitingFor): string {
  switch (wait.kind) {
    case 'delay':
      return `its start at ${wait.until}`
    case 'retry':
      return `its next attempt at ${wait.until}`
    case 'sleep':
      return `the end of sleep ${quoted(wait.step)} at ${wait.until}`
    case 'step retry':
      return `the next attempt of step ${quoted(wait.step)} at ${wait.until}`
    case 'signal':
      return `signal ${quoted(wait.name)}${wait.until === null ? '' : `, until ${wait.until} at most`}`
    case 'decision':
      return `a decision about step ${quoted(wait.step)}: its worker was lost while its function was at work, and it may have taken place`
    case 'child':
      return `${otherRun(wait)}, invoked by step ${quoted(wait.step)}`
    default:
      return 'a worker'
  }
}

function attemptsOf({ count, error }: FailedAttempts): string {
  return count === 1 ? `an attempt that failed with ${quoted(error)}` : `${count} attempts that failed, the last one with ${quoted(error)}`
}

function otherRun(wait: WaitingFor | undefined): string {
  const id = wait?.kind === 'child' ? wait.runId : wait?.kind === 'key' ? wait.heldBy : null
  return id === null ? 'another run' : `run ${id}`
}

/** What to do about the last run of the chain. */
export function adviceOf(chain: readonly Link[]): string {
  const last = chain.at(-1)
  if (!last) return ''
  const holder = chain.find(({ cause }) => cause === 'key')
  if (holder && last.actor === 'time' && last.remedy.do === 'wait' && last.remedy.until !== null)
    return untilKeyIsFree(holder, last.remedy.until)
  return remedyOf(last)
}

/** What sleeps for a month keeps its key for a month, and somebody may not want to wait for that. */
function untilKeyIsFree({ waitingFor: [wait] }: Link, until: string): string {
  const sooner = wait?.kind === 'key' && wait.heldBy !== null ? `: durably.cancel(${quoted(wait.heldBy)})` : ''
  return `It goes on by itself when ${otherRun(wait)} has ended, not before ${until}. To free its key sooner, cancel that run, which ends it${sooner}.`
}

function remedyOf({ remedy, run, cause, row }: Link): string {
  switch (remedy.do) {
    case 'signal':
      return `Somebody must send it: durably.signal(${quoted(remedy.runId)}, ${quoted(remedy.name)}, value).`
    case 'decide':
      return `Somebody must find out and say so: durably.decide(${quoted(remedy.runId)}, ${quoted(remedy.step)}, { done: result } | { failed: message } | 'run again').`
    case 'start a worker':
      return `Unless another process does so, start a worker: call defineJob for ${quoted(remedy.jobName)} and durably.start().`
    case 'retry':
      return `When its reason is gone, retry it: durably.retry(${quoted(run.id)}, { ifVersion: ${run.version} }).`
    case 'ask':
      return 'Ask somebody who may read the run that it waits for.'
    case 'nothing':
      return 'There is nothing to do.'
    case 'wait':
      if (cause === 'retry' || cause === 'step retry')
        return `It is tried again at ${remedy.until}; nobody has to act unless the error stays.`
      if (remedy.until !== null) return `Nobody has to act: it goes on at ${remedy.until}.`
      if (cause === 'executing')
        return `Nobody has to act: if its worker is lost, another one takes over after ${isoOf(row.leaseExpiresAt)}.`
      if (cause === 'cancelling') return 'Nobody has to act, but a function that ignores ctx.signal holds it up until it ends.'
      return 'Nobody has to act: a worker goes on with it.'
  }
}

function isoOf(ms: number | null): string {
  return ms === null ? 'never' : iso(ms)
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

function shortened(text: string): string {
  return quoted(text.length > ERROR_CHARS_MAX ? `${text.slice(0, ERROR_CHARS_MAX)}…` : text)
}
