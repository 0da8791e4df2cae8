// Users on the way to another service and back. Whichever server they come back to finds them here.
import { hashOfToken } from '../auth/token.ts'
import type { Proof } from '../oauth/client.ts'
import type { ProviderName } from '../oauth/providers.ts'
import { identityOf, type KeyRing } from '../secrets/key-ring.ts'
import type { AppDatabase } from './tables.ts'

const STATE_MS = 10 * 60_000

export interface Journey {
  provider: ProviderName
  purpose: 'login' | 'connect'
  /** Who connects; null of somebody who signs in. */
  userId: string | null
  redirectUri: string
  returnTo: string
}

export type Refusal = 'state_unknown' | 'state_mismatch' | 'state_used' | 'state_expired'

export function stateIdentity(stateHash: string): string {
  return identityOf('oauth_state', stateHash)
}

/** `binding` is the cookie of the browser: only that one may come back. */
export async function createState(db: AppDatabase, journey: Journey, proof: Proof, binding: string, ring: KeyRing): Promise<void> {
  const { state, verifier, nonce } = proof
  const state_hash = hashOfToken(state)
  await db
    .insertInto('oauth_state')
    .values({
      state_hash,
      provider: journey.provider,
      purpose: journey.purpose,
      user_id: journey.userId,
      bind_hash: hashOfToken(binding),
      sealed: ring.seal(JSON.stringify({ verifier, nonce }), stateIdentity(state_hash)),
      redirect_uri: journey.redirectUri,
      return_to: journey.returnTo,
      expires_at: Date.now() + STATE_MS,
      consumed_at: null,
    })
    .execute()
}

/** One statement decides, so of several requests with the same state one gets it. A foreign browser does not use it up. */
export async function consumeState(
  db: AppDatabase,
  state: string,
  binding: string | undefined,
  ring: KeyRing,
): Promise<{ journey: Journey; proof: Proof } | Refusal> {
  const stateHash = hashOfToken(state)
  const bindHash = hashOfToken(binding ?? '')
  const now = Date.now()
  const row = await db
    .updateTable('oauth_state')
    .set({ consumed_at: now })
    .where('state_hash', '=', stateHash)
    .where('bind_hash', '=', bindHash)
    .where('consumed_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
  if (!row) return whyNot(db, stateHash, bindHash)
  const { verifier, nonce } = JSON.parse(ring.open(row.sealed, stateIdentity(stateHash))) as Pick<Proof, 'verifier' | 'nonce'>
  const { provider, purpose, user_id: userId, redirect_uri: redirectUri, return_to: returnTo } = row
  return { journey: { provider: provider as ProviderName, purpose, userId, redirectUri, returnTo }, proof: { state, verifier, nonce } }
}

/** A row stays for a day after its end, so that a used one is not taken for an unknown one. */
async function whyNot(db: AppDatabase, stateHash: string, bindHash: string): Promise<Refusal> {
  const row = await db.selectFrom('oauth_state').select(['bind_hash', 'consumed_at']).where('state_hash', '=', stateHash).executeTakeFirst()
  if (!row) return 'state_unknown'
  if (row.bind_hash !== bindHash) return 'state_mismatch'
  return row.consumed_at === null ? 'state_expired' : 'state_used'
}
