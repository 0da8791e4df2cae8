// What this runtime and this database can do, for people who wonder why something is slow, or not there.
import type { Engine } from './engine.ts'
import type { TabDialect, TabRole } from './store/tab-role.ts'

export interface Capabilities {
  /** `ctx.transaction` works. */
  transactions: boolean
  /** There is a log of events to subscribe to. */
  eventLog: boolean
  /** Other tabs or processes are notified at once; otherwise they poll. */
  notifications: boolean
  /** This instance executes runs now. */
  executes: boolean
  /** What this tab is among those that share the database; null where that makes no difference. */
  role: TabRole | null
  /** What the browser offers to this page; null elsewhere. */
  browser: BrowserCapabilities | null
}

export interface BrowserCapabilities {
  /** Files of the page's own. */
  opfs: boolean
  webLocks: boolean
  broadcastChannel: boolean
  /** COOP and COEP are set; SQLocal needs that, `browserDialect` does not. */
  crossOriginIsolated: boolean
  /** The browser will not clear the storage by itself; ask with `navigator.storage.persist()`. */
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
