// What tabs and the worker that has the database say to each other.
//   - On the hub, a BroadcastChannel, everybody hears everybody: a host says that it has the database, a guest that it wants it.
//   - Each guest then has a line of its own: calls one way, answers the other. In the host's own tab that is a MessagePort.
import type { ErrorCode } from '../model/errors.ts'
import type { Bindable } from '../store/sql/dialect/sqlite/bind-guard.ts'
import type { Row } from '../store/sql/session.ts'

export interface Statement {
  sql: string
  parameters: readonly Bindable[]
}

export interface Result {
  rows: Row[]
  /** Null for a statement that returns rows. */
  changes: number | null
  lastInsertRowId: number | bigint
}

export interface Call {
  call: number
  /** Grows whenever another user of the line has its turn: an open transaction does not outlive the turn that began it. */
  turn: number
  statements: readonly Statement[]
  /** All in one transaction, which is begun and ended here. */
  atomic: boolean
}

export type Answer = { call: number; results: readonly Result[] } | { call: number; error: string }

/** The host has this line; it says so again whenever the guest greets. */
export interface Welcome {
  host: string
}

export type HubMessage = { type: 'host' } | { type: 'guest'; guest: string }

/** Says who leaves: a guest, or a host that has answered all that it has done. */
export const BYE = 'bye'

/** From the page to its worker. */
export type WorkerOrder =
  | { type: 'open'; name: string; host: string; synchronous: 'FULL' | 'NORMAL' }
  | { type: 'serve'; port: MessagePort }
  | { type: 'close' }

/** From the worker to its page. */
export type WorkerReport = { type: 'opened' } | { type: 'failed'; code: ErrorCode; error: string } | { type: 'closed' }

/** What `MessagePort` and `BroadcastChannel` have in common. */
export interface Channel {
  onmessage: ((event: MessageEvent) => void) | null
  postMessage(message: unknown): void
  close(): void
}

/** Names of locks and channels; all tabs of an origin share them. */
export const placeNames = (name: string) => ({
  hub: `durably:${name}`,
  hostLock: `durably:${name}:host`,
  lead: (tablePrefix: string) => `durably:${name}:lead:${tablePrefix}`,
  /** Of the channel and of the lock that a guest holds as long as it lives. */
  guest: (guest: string) => `durably:${name}:guest:${guest}`,
  news: (channel: string) => `durably:${name}:news:${channel}`,
})
