// Users of a server in this process, signed in.
import { createUser } from '../../dist/db/users.js'
import { createWebSession } from '../../dist/db/web-sessions.js'
import type { Client } from './client.ts'
import type { OneProcess } from './one-process.ts'

export interface TestUser {
  userId: string
  /** Sends what a browser of this user would. */
  client: Client
  cookie: string
}

export async function signedInUser({ app, client, url }: Pick<OneProcess, 'app' | 'client' | 'url'>, email: string): Promise<TestUser> {
  const { userId } = await createUser(app.db, email)
  const cookie = `agentic=${await createWebSession(app.db, userId)}`
  return { userId, cookie, client: client.with({ Cookie: cookie, Origin: url }) }
}

/** What a browser would send back. */
export function cookieOf({ headers }: { headers: Headers }): string {
  return headers.get('set-cookie')?.split(';', 1)[0] ?? ''
}
