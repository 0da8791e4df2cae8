// DurablyProvider — gives the hooks of a tree their client.
import type { DurablyClient, Jobs } from '@coji/durably/client'
import { createContext, type ReactNode, use } from 'react'
import { type Observers, observersOf } from './observe/observers.ts'
import type { RegisteredJobs } from './register.ts'

const ClientContext = createContext<DurablyClient | null>(null)

export interface DurablyProviderProps<TJobs extends Jobs> {
  /** Make it once, outside of components: the observed state belongs to it. */
  client: DurablyClient<TJobs>
  children?: ReactNode
}

/** @example <DurablyProvider client={httpClient<typeof jobs>({ url: '/api/durably' })}>…</DurablyProvider> */
export function DurablyProvider<TJobs extends Jobs>({ client, children }: DurablyProviderProps<TJobs>): ReactNode {
  return <ClientContext value={client as unknown as DurablyClient}>{children}</ClientContext>
}

/** The client, for everything that has no hook. */
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
