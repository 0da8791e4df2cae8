// The tokens that other services gave for users, sealed, in the table `auth`.
//   U1. Who asks for new tokens holds a lease in the row. No transaction is open while the service is asked.
//   U2. What comes back is written only by who still holds the lease.
import { newToken } from '../auth/token.ts'
import type { Tokens } from '../oauth/client.ts'
import type { ProviderName } from '../oauth/providers.ts'
import { identityOf, type KeyRing } from '../secrets/key-ring.ts'
import type { AppDatabase } from './tables.ts'

/** Longer than a request to a service may take. */
const LEASE_MS = 60_000

export interface Connection {
  userId: string
  provider: ProviderName
  account: string | null
  status: 'connected' | 'reconnect'
  version: number
  tokens: Tokens
}

export function authIdentity({ user_id, provider, version }: { user_id: string; provider: string; version: number }): string {
  return identityOf('auth', user_id, provider, version)
}

export async function connect(
  db: AppDatabase,
  userId: string,
  { provider, account, tokens }: { provider: ProviderName; account: string | null; tokens: Tokens },
  ring: KeyRing,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const old = await trx
      .selectFrom('auth')
      .select('version')
      .where('user_id', '=', userId)
      .where('provider', '=', provider)
      .executeTakeFirst()
    const row = { account, status: 'connected' as const, ...sealed(userId, provider, (old?.version ?? 0) + 1, tokens, ring) }
    await trx
      .insertInto('auth')
      .values({ user_id: userId, provider, ...row })
      .onConflict((conflict) => conflict.columns(['user_id', 'provider']).doUpdateSet(row))
      .execute()
  })
}

function sealed(userId: string, provider: ProviderName, version: number, { accessToken, refreshToken, expiresAt }: Tokens, ring: KeyRing) {
  return {
    sealed: ring.seal(JSON.stringify({ accessToken, refreshToken }), authIdentity({ user_id: userId, provider, version })),
    version,
    expires_at: expiresAt,
    refresh_lease: null,
    refresh_lease_until: null,
    updated_at: new Date().toISOString(),
  }
}

/** Throws SecretUnreadable. */
export async function readConnection(
  db: AppDatabase,
  userId: string,
  provider: ProviderName,
  ring: KeyRing,
): Promise<Connection | undefined> {
  const row = await db.selectFrom('auth').selectAll().where('user_id', '=', userId).where('provider', '=', provider).executeTakeFirst()
  if (!row) return undefined
  const { accessToken, refreshToken } = JSON.parse(ring.open(row.sealed, authIdentity(row))) as Omit<Tokens, 'expiresAt'>
  // Drivers of Postgres give a BIGINT as text.
  const expiresAt = row.expires_at === null ? null : Number(row.expires_at)
  const { account, status, version } = row
  return { userId, provider, account, status, version, tokens: { accessToken, refreshToken, expiresAt } }
}

export interface ShownConnection {
  provider: string
  account: string | null
  status: 'connected' | 'reconnect'
}

export async function listConnections(db: AppDatabase, userId: string): Promise<ShownConnection[]> {
  return db.selectFrom('auth').select(['provider', 'account', 'status']).where('user_id', '=', userId).execute()
}

export async function disconnect(db: AppDatabase, userId: string, provider: ProviderName): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('auth').where('user_id', '=', userId).where('provider', '=', provider).executeTakeFirst()
  return numDeletedRows > 0n
}

/** Undefined if somebody else asks for new tokens already, or has got them. */
export async function takeLease(db: AppDatabase, { userId, provider, version }: Connection): Promise<string | undefined> {
  const lease = newToken()
  const now = Date.now()
  const { numUpdatedRows } = await db
    .updateTable('auth')
    .set({ refresh_lease: lease, refresh_lease_until: now + LEASE_MS })
    .where('user_id', '=', userId)
    .where('provider', '=', provider)
    .where('version', '=', version)
    .where('status', '=', 'connected')
    .where((eb) => eb.or([eb('refresh_lease_until', 'is', null), eb('refresh_lease_until', '<', now)]))
    .executeTakeFirst()
  return numUpdatedRows === 1n ? lease : undefined
}

export interface Leased {
  connection: Connection
  lease: string
}

export async function storeRefreshed(db: AppDatabase, { connection, lease }: Leased, tokens: Tokens, ring: KeyRing): Promise<void> {
  const { userId, provider, version } = connection
  await ofLease(db, { connection, lease })
    .set(sealed(userId, provider, version + 1, tokens, ring))
    .execute()
}

/** From now on nobody asks the service for this user again, until the user has connected again. */
export async function markReconnect(db: AppDatabase, leased: Leased): Promise<void> {
  await ofLease(db, leased).set({ status: 'reconnect', refresh_lease: null, refresh_lease_until: null }).execute()
}

/** Nobody asks again before the pause is over. */
export async function pauseLease(db: AppDatabase, leased: Leased, ms: number): Promise<void> {
  await ofLease(db, leased)
    .set({ refresh_lease_until: Date.now() + ms })
    .execute()
}

function ofLease(db: AppDatabase, { connection: { userId, provider }, lease }: Leased) {
  return db.updateTable('auth').where('user_id', '=', userId).where('provider', '=', provider).where('refresh_lease', '=', lease)
}

/** The service no longer accepts the access token, so the next one who needs it asks for another. Not if that has happened already. */
export async function expireToken(db: AppDatabase, { userId, provider, version }: Connection): Promise<void> {
  await db
    .updateTable('auth')
    .set({ expires_at: 0 })
    .where('user_id', '=', userId)
    .where('provider', '=', provider)
    .where('version', '=', version)
    .execute()
}
