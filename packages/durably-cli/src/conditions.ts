// Which runs are meant: the options of a command as a filter of the engine.
import type { ClusterState, Labels, Phase, RunConditions, RunStatus } from '@coji/durably'
import type { Option } from './command.ts'
import { UsageError } from './exit-code.ts'
import type { Given } from './given.ts'

const STATUSES: readonly RunStatus[] = ['pending', 'running', 'completed', 'failed', 'cancelled']

export const PHASES: readonly Phase[] = [
  'pending',
  'assigned',
  'orphaned',
  'sleeping',
  'waiting',
  'running',
  'cancelling',
  'stale',
  'confirming',
  'completed',
  'failed',
  'cancelled',
]

const CLUSTER_STATES: readonly ClusterState[] = [
  'PENDING',
  'ASSIGNED',
  'ORPHANED',
  'RUNNING',
  'CONFIRMING',
  'SUCCEEDED',
  'FAILED',
  'TIMED_OUT',
  'CANCELED',
]

export const CONDITIONS: Readonly<Record<string, Option>> = {
  status: { value: 'status', many: true, choices: STATUSES, what: 'runs of this status' },
  phase: { value: 'phase', many: true, choices: PHASES, what: 'runs in this phase' },
  'cluster-state': { value: 'state', many: true, choices: CLUSTER_STATES, what: 'runs in this state, in the words of a cluster' },
  job: { value: 'name', short: 'j', many: true, what: 'runs of this job' },
  label: { value: 'name=value', short: 'l', many: true, what: 'runs with this label' },
  since: { value: 'time', what: 'triggered since: 30m, 2h, 1d, or a time such as 2026-01-31T12:00:00Z' },
  until: { value: 'time', what: 'triggered before' },
  parent: { value: 'run id', what: 'runs that this run triggered' },
  schedule: { value: 'id', what: 'runs of this schedule' },
  key: { value: 'text', what: 'runs with this concurrency key' },
}

export function hasConditions(given: Given): boolean {
  return Object.keys(CONDITIONS).some((option) => given.has(option))
}

export function conditionsOf(given: Given, nowMs: number): RunConditions {
  const status = given.texts('status') as RunStatus[]
  const phase = given.texts('phase') as Phase[]
  const clusterState = given.texts('cluster-state') as ClusterState[]
  const job = given.texts('job')
  const labels = labelsOf(given)
  const texts = { parentRunId: given.text('parent'), scheduleId: given.text('schedule'), concurrencyKey: given.text('key') }
  const times = { createdAfter: timeOf(given, 'since', nowMs), createdBefore: timeOf(given, 'until', nowMs) }
  return {
    ...(status.length > 0 && { status }),
    ...(phase.length > 0 && { phase }),
    ...(clusterState.length > 0 && { clusterState }),
    ...(job.length > 0 && { jobName: job }),
    ...(labels && { labels }),
    ...(Object.fromEntries(Object.entries({ ...texts, ...times }).filter(([, value]) => value !== undefined)) as RunConditions),
  }
}

export function labelsOf(given: Given): Labels | undefined {
  const pairs = given.texts('label').map((text) => {
    const [name = '', ...rest] = text.split('=')
    if (name === '' || rest.length === 0) throw new UsageError(`--label must be name=value, got ${JSON.stringify(text)}`)
    return [name, rest.join('=')] as const
  })
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
}

const AGO = /^(\d+(?:\.\d+)?)(s|m|h|d|w)$/
const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

export function timeOf(given: Given, option: string, nowMs: number): number | undefined {
  const text = given.text(option)
  if (text === undefined) return undefined
  const [, amount, unit = ''] = AGO.exec(text) ?? []
  const ms = amount === undefined ? Date.parse(text) : nowMs - Number(amount) * (UNITS[unit] ?? 0)
  if (Number.isFinite(ms)) return ms
  throw new UsageError(
    `--${option} must be an age such as 30m, 2h or 1d, or a time such as 2026-01-31T12:00:00Z, got ${JSON.stringify(text)}`,
  )
}
