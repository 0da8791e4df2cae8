import { DurablyError } from '../../model/errors.ts'
import type { RunRow } from '../../model/run.ts'
import type { Delivery, DeliveryOutcome, EventQuery, EventRun, InboxEvent, NewEvent, PutEventOutcome } from '../cluster/inbox.ts'
import { DEFAULT_SETTINGS } from '../cluster/settings.ts'
import { newRow } from '../new-row.ts'
import type { CreateOptions } from '../runs.ts'
import type { Tables } from './tables.ts'

export interface InboxRow extends NewEvent {
  /** Null before it was delivered. */
  processedAt: number | null
  leaderEpoch: number | null
}

export function putEvent(tables: Tables, event: NewEvent, { within }: CreateOptions = {}): PutEventOutcome {
  if (within !== undefined) throw new DurablyError('transaction_unsupported', 'send({ tx }) needs a database; this store has none')
  const { inbox, dedupeKeys } = tables
  const { id, dedupeKey } = event
  const holder = dedupeKey === null ? undefined : inbox.get(dedupeKeys.get(dedupeKey) ?? '')
  if (holder && isOld(tables, holder)) forget(tables, holder)
  else if (holder && holder.id !== id) return { outcome: 'known', id: holder.id }
  if (inbox.has(id)) return { outcome: 'stored', id }
  inbox.set(id, { ...event, processedAt: null, leaderEpoch: null })
  tables.undelivered.add(id)
  if (dedupeKey !== null) dedupeKeys.set(dedupeKey, id)
  return { outcome: 'stored', id }
}

/** In the order in which they were stored. */
export function findEvents({ inbox, undelivered }: Tables, { limit }: EventQuery): InboxEvent[] {
  const found = Array.from(undelivered, (id) => inbox.get(id)).slice(0, limit)
  return found.flatMap((event) => (event ? [{ id: event.id, name: event.name, data: event.data }] : []))
}

export function deliverEvent(tables: Tables, { epoch, eventId, runs }: Delivery): DeliveryOutcome {
  const event = tables.inbox.get(eventId)
  const isSentAgain = event?.processedAt != null && event.leaderEpoch === epoch
  if (!isSentAgain) {
    if (tables.leader?.epoch !== epoch) return { outcome: 'deposed' }
    if (!event || event.processedAt !== null) return { outcome: 'changed' }
    for (const run of runs) if (!tables.known.find({ ...run, parentRunId: null, parentStep: null })) insert(tables, run, event.data)
    tables.undelivered.delete(eventId)
    tables.inbox.delete(eventId)
    tables.inbox.set(eventId, { ...event, data: null, processedAt: tables.nowMs, leaderEpoch: epoch })
  }
  return { outcome: 'delivered', runs: runs.flatMap(({ id }) => copyOf(tables.records.get(id)?.row)) }
}

function insert(tables: Tables, run: EventRun, payload: string | null): void {
  const nothing = { concurrencyKey: null, holdKey: false, labels: null, delayMs: null, runAt: null, deadlineMs: null, deadlineAt: null }
  const noParent = { parentRunId: null, parentStep: null, parentToken: null }
  const row = newRow({ payload, unchecked: true, ...nothing, ...noParent, ...run }, tables.nowMs)
  tables.insert(row, [{ type: 'run:trigger', payload: {}, createdAt: tables.nowIso }])
}

function copyOf(row: RunRow | undefined): RunRow[] {
  return row ? [{ ...row }] : []
}

export function forgetEvents(tables: Tables, limit: number): number {
  const old = Array.from(tables.inbox.values())
    .filter((event) => isOld(tables, event))
    .slice(0, limit)
  for (const event of old) forget(tables, event)
  return old.length
}

function isOld(tables: Tables, { processedAt }: InboxRow): boolean {
  return processedAt !== null && processedAt <= tables.nowMs - (tables.settings?.value.dedupeForMs ?? DEFAULT_SETTINGS.dedupeForMs)
}

function forget({ inbox, dedupeKeys }: Tables, { id, dedupeKey }: InboxRow): void {
  inbox.delete(id)
  if (dedupeKey !== null) dedupeKeys.delete(dedupeKey)
}
