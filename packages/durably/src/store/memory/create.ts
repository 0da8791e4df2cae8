import { DurablyError } from '../../model/errors.ts'
import { newRow } from '../new-row.ts'
import { notStored } from '../not-stored.ts'
import type { Created, CreateOptions, NewRun } from '../runs.ts'
import type { Tables } from './tables.ts'

export function create(tables: Tables, runs: readonly NewRun[], { within }: CreateOptions = {}): Created[] {
  if (within !== undefined) throw new DurablyError('transaction_unsupported', 'trigger({ tx }) needs a database; this store has none')
  return runs.map((run) => createOne(tables, run))
}

function createOne(tables: Tables, run: NewRun): Created {
  const sentBefore = tables.records.get(run.id)
  if (sentBefore) return { run: { ...sentBefore.row }, created: true }
  const known = tables.known.find(run)
  if (known) return { run: { ...known.row }, created: false }
  if (run.parentToken !== null && tables.records.get(run.parentRunId ?? '')?.row.leaseOwner !== run.parentToken) throw notStored(run)
  const { row } = tables.insert(newRow(run, tables.nowMs), [{ type: 'run:trigger', payload: {}, createdAt: tables.nowIso }])
  return { run: { ...row }, created: true }
}
