// DurablyProvider — gives the hooks of a tree their client.
import type { DurablyClient, Jobs } from '@coji/durably/client'
import { createContext, type ReactNode, use } from 'react'
import { type Observers, observersOf } from './observe/observers.ts'
import type { RegisteredJobs } from './register.ts'

const ClientContext = createContext<DurablyClient | null>(null)

/** The props of `DurablyProvider`. */
export interface DurablyProviderProps<TJobs extends Jobs> {
  /** The client that the hooks use. Make it once, outside of components: what was observed belongs to it. */
  client: DurablyClient<TJobs>
  /** The components that use the hooks. */
  children?: ReactNode
}

/**
 * Gives the hooks of the components inside it their client.
 *
 * @example <DurablyProvider client={httpClient<typeof jobs>({ url: '/api/durably' })}>…</DurablyProvider>
 */
export function DurablyProvider<TJobs extends Jobs>({ client, children }: DurablyProviderProps<TJobs>): ReactNode {
  return <ClientContext value={client as unknown as DurablyClient}>{children}</ClientContext>
}

/** Returns the client, for everything that has no hook. */
export function useDurably(): DurablyClient<RegisteredJobs> {
  return useClient() as unknown as DurablyClient<RegisteredJobs>
}

export function useObservers(): Observers {
  return observersOf(useClient())
}

function useClient(): DurablyClient {
  const client = use(ClientContext)
  if (!client) throw new Error('there is no Durably client here; render this component inside <DurablyProvider client={…}>')
  return client
}
