// What this runtime and this database can do, for people who wonder why something is slow, or not there.
import type { Engine } from './engine.ts'
import type { TabDialect, TabRole } from './store/tab-role.ts'

/** What `capabilities()` returns. */
export interface Capabilities {
  /** Whether `ctx.transaction` and `trigger({ tx })` work: they need a database, not a store in memory. */
  transactions: boolean
  /** Whether there is an event log, which `subscribe` reads. */
  eventLog: boolean
  /** Whether other tabs or processes are notified of changes at once. Otherwise they find them by polling. */
  notifications: boolean
  /** Whether this instance executes runs now: its worker is started, and no other tab executes instead. */
  executes: boolean
  /** What this tab is among the tabs that share the database; null where the database is not shared by tabs. */
  role: TabRole | null
  /** What the browser offers to this page; null outside of a page. */
  browser: BrowserCapabilities | null
}

/** What the browser offers to this page. */
export interface BrowserCapabilities {
  /** Whether the page can store files of its own (the origin private file system), which `browserDialect` and SQLocal need. */
  opfs: boolean
  /** Whether the Web Locks API is there, by which tabs agree on who has the database open and who executes. */
  webLocks: boolean
  /** Whether BroadcastChannel is there, by which tabs notify each other. */
  broadcastChannel: boolean
  /** Whether the page is cross-origin isolated (the headers COOP and COEP are set). SQLocal needs that, `browserDialect` does not. */
  crossOriginIsolated: boolean
  /** Whether the browser has promised not to clear the storage by itself; ask for that with `navigator.storage.persist()`. */
  persisted: boolean
}

export async function capabilitiesOf({ store, dialect, openNotifier, worker }: Engine): Promise<Capabilities> {
  if (worker.isStarting) await worker.loaded()
  return {
    transactions: store.transact !== undefined,
    eventLog: store.eventLog,
    notifications: openNotifier !== null,
    executes: worker.isWorking,
    role: dialect && 'role' in dialect ? (dialect as TabDialect).role : null,
    browser: await browserCapabilities(),
  }
}

async function browserCapabilities(): Promise<BrowserCapabilities | null> {
  if (typeof document === 'undefined') return null
  const { storage, locks } = navigator
  return {
    opfs: typeof storage?.getDirectory === 'function',
    webLocks: locks !== undefined,
    broadcastChannel: typeof BroadcastChannel === 'function',
    crossOriginIsolated: globalThis.crossOriginIsolated,
    persisted: (await storage?.persisted?.()) ?? false,
  }
}
