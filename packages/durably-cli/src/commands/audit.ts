import type { AuditAction, AuditEntry, AuditFilter, AuditKind } from '@coji/durably'
import type { Command } from '../command.ts'
import { timeOf } from '../conditions.ts'
import { UsageError } from '../exit-code.ts'
import type { Given } from '../given.ts'
import { withDurably } from '../open.ts'
import type { Io } from '../output/io.ts'
import { table } from '../output/table.ts'
import { relative } from '../output/time.ts'

/** By kind, so that one that is added to the engine and not here does not compile. */
const VERBS: { [K in AuditKind]: { [A in AuditAction as A extends `${K}:${infer V}` ? V : never]: 1 } } = {
  run: { retry: 1, cancel: 1, delete: 1, signal: 1, decide: 1 },
  schedule: { put: 1, pause: 1, resume: 1, trigger: 1, delete: 1 },
  worker: { attach: 1, drain: 1, detach: 1 },
  settings: { set: 1 },
  leader: { elect: 1 },
}
const KINDS = Object.keys(VERBS)
const ACTIONS = Object.entries(VERBS).flatMap(([kind, verbs]) => Object.keys(verbs).map((verb) => `${kind}:${verb}`))

export const audit: Command = {
  name: 'audit',
  summary: 'show who did what, the newest first',
  about: 'Commands are recorded that say who gives them: --as, DURABLY_ACTOR, the option actor of a program, or the principal of a server.',
  args: [
    { name: 'kind', what: 'what it was done to; everything by default', optional: true, choices: KINDS },
    { name: 'id', what: 'the id of the run, schedule or worker', optional: true },
  ],
  options: {
    actor: { value: 'name', what: 'what this actor did' },
    action: { value: 'action', choices: ACTIONS, what: 'what was done' },
    since: { value: 'time', what: 'since: 30m, 2h, 1d, or a time such as 2026-01-31T12:00:00Z' },
    until: { value: 'time', what: 'before' },
    limit: { value: 'number', short: 'n', what: 'how many at most; 50 by default' },
  },
  examples: ['durably audit --since 1d', 'durably audit run 01JCZX3P0V6S6V7M3YB8Q8Y3GT', 'durably audit --actor ada --action run:cancel'],
  run: (given, io) =>
    withDurably(given, io, async (durably, { now }) => {
      const entries = await durably.audit.list(filterOf(given, now()))
      if (given.has('json')) io.out(JSON.stringify(entries))
      else if (entries.length === 0) io.err('nothing was recorded that matches')
      else show(entries, io, now())
      return undefined
    }),
}

function filterOf(given: Given, nowMs: number): AuditFilter {
  const [actor, action] = [given.text('actor'), given.text('action') as AuditAction | undefined]
  const [after, before] = [timeOf(given, 'since', nowMs), timeOf(given, 'until', nowMs)]
  const target = targetOf(given)
  return {
    ...(target && { target }),
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(after !== undefined && { after }),
    ...(before !== undefined && { before }),
    limit: given.wholeNumber('limit') ?? 50,
  }
}

/** There is one leader, and there are the settings; of other kinds somebody must say which. */
function targetOf(given: Given): AuditFilter['target'] {
  const kind = given.args('kind')[0] as AuditKind | undefined
  if (kind === undefined) return undefined
  const id = given.args('id')[0] ?? (kind === 'leader' || kind === 'settings' ? kind : undefined)
  if (id === undefined) throw new UsageError(`<id> is missing: which ${kind}; for all of a kind use --action`)
  return { kind, id }
}

const COLUMNS = [{ title: 'WHEN' }, { title: 'ACTOR' }, { title: 'ACTION' }, { title: 'TARGET', whole: true }, { title: 'DETAIL' }]

function show(entries: readonly AuditEntry[], io: Io, nowMs: number): void {
  const rows = entries.map(({ at, actor, action, target, detail }) => [
    relative(at, nowMs),
    actor,
    action,
    target.id,
    detail === null ? '' : JSON.stringify(detail),
  ])
  io.out(table(io, COLUMNS, rows))
}
