// The messages between the tabs and the worker that has the database open.
//   - The hub is a BroadcastChannel of all tabs: the host announces itself there, and a guest says hello there.
//   - Each guest then has a channel of its own, with calls one way and answers the other. In the host's own tab it is a MessagePort.
import type { ErrorCode } from '../model/errors.ts'
import type { Row } from '../store/sql/shared/session.ts'
import type { Bindable } from '../store/sql/sqlite/parameters.ts'

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
  /** Counts how often the connection was acquired: a transaction ends, at the latest, when the next turn begins. */
  turn: number
  statements: readonly Statement[]
  /** The statements are one transaction, which the server begins and ends. */
  atomic: boolean
}

export type Answer = { call: number; results: readonly Result[] } | { call: number; error: string }

/** The host serves this channel; it answers every hello of the guest with this message. */
export interface Welcome {
  host: string
}

export type HubMessage = { type: 'host' } | { type: 'guest'; guest: string }

/** Sent by a guest that leaves, or by a host that leaves and has answered every call that it executed. */
export const BYE = 'bye'

/** From the page to its worker. */
export type WorkerOrder =
  | { type: 'open'; name: string; host: string; synchronous: 'FULL' | 'NORMAL' }
  | { type: 'serve'; port: MessagePort }
  | { type: 'close' }

/** From the worker to its page. */
export type WorkerReport = { type: 'opened' } | { type: 'failed'; code: ErrorCode; error: string } | { type: 'closed' }

/** The common part of `MessagePort` and `BroadcastChannel`. */
export interface Channel {
  onmessage: ((event: MessageEvent) => void) | null
  postMessage(message: unknown): void
  close(): void
}

/** The names of locks and channels, which all tabs of an origin share. */
export const placeNames = (name: string) => ({
  hub: `durably:${name}`,
  hostLock: `durably:${name}:host`,
  lead: (tablePrefix: string) => `durably:${name}:lead:${tablePrefix}`,
  /** The name of a guest's channel, and of the lock that it holds while it lives. */
  guest: (guest: string) => `durably:${name}:guest:${guest}`,
  changes: (channel: string) => `durably:${name}:changes:${channel}`,
})
