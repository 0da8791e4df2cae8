// The dedicated worker of the host: it has the database open, and serves its own tab and all guests.
// A guest that dies sends no goodbye, but it loses the lock that it held while it lived; so the worker waits for that lock.
import { type Env, systemEnv } from '../model/env.ts'
import type { ErrorCode } from '../model/errors.ts'
import { classifyError } from '../store/sql/sqlite/classify-error.ts'
import { DatabaseServer } from './database-server.ts'
import { type HubMessage, placeNames, type Welcome, type WorkerOrder, type WorkerReport } from './protocol.ts'
import { openWasmDatabase, type WasmDatabase } from './wasm-database.ts'

let opened: { database: WasmDatabase; server: DatabaseServer; hub: BroadcastChannel } | undefined

self.onmessage = ({ data }: MessageEvent<WorkerOrder>) => {
  switch (data.type) {
    case 'open':
      return void open(data).then(
        () => report({ type: 'opened' }),
        (error) => report({ type: 'failed', ...explained(error) }),
      )
    case 'serve':
      return opened?.server.serve(data.port)
    case 'close':
      // From here on no guest is accepted.
      opened?.hub.close()
      opened?.server.close()
      opened?.database.close()
      return report({ type: 'closed' })
  }
}

async function open({ name, host, synchronous }: WorkerOrder & { type: 'open' }): Promise<void> {
  const env: Env = systemEnv()
  const database = await openWasmDatabase({ name, synchronous, env })
  const server = new DatabaseServer(database, env)
  opened = { database, server, hub: receiveGuests(server, name, host) }
}

function receiveGuests(server: DatabaseServer, name: string, host: string): BroadcastChannel {
  const names = placeNames(name)
  const hub = new BroadcastChannel(names.hub)
  const guests = new Map<string, BroadcastChannel>()
  const welcome: Welcome = { host }

  function receive(guest: string): BroadcastChannel {
    const channel = new BroadcastChannel(names.guest(guest))
    guests.set(guest, channel)
    const watch = new AbortController()
    server.serve(channel, () => {
      guests.delete(guest)
      watch.abort()
    })
    const gone = () => {
      if (guests.delete(guest)) server.leave(channel)
    }
    navigator.locks.request(names.guest(guest), { signal: watch.signal }, gone).catch(() => {})
    return channel
  }

  hub.onmessage = ({ data }: MessageEvent<HubMessage>) => {
    if (data.type === 'guest') (guests.get(data.guest) ?? receive(data.guest)).postMessage(welcome)
  }
  hub.postMessage({ type: 'host' } satisfies HubMessage)
  return hub
}

function explained(error: unknown): { code: ErrorCode; error: string } {
  const text = String(error)
  if (/Missing required OPFS|SecurityError/.test(text))
    return { code: 'invalid_config', error: `this browser gives this page no access to its file system (OPFS): ${text}` }
  const { code, message } = classifyError(error)
  return { code, error: message }
}

function report(message: WorkerReport): void {
  self.postMessage(message)
}
