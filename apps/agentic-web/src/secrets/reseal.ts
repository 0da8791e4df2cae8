// Seals everything that is stored with the first key of APP_KEYS. Requests and runs go on meanwhile: they can open both, and a row that somebody changes
// at the same moment is left as it is, because it has the first key already.

import { authIdentity } from '../db/auth.ts'
import { stateIdentity } from '../db/oauth-state.ts'
import { secretIdentity } from '../db/secrets.ts'
import type { AppDatabase } from '../db/tables.ts'
import { type KeyRing, SecretUnreadable } from './key-ring.ts'

export interface Resealed {
  resealed: number
  /** Cannot be opened with any key, and was left. */
  unreadable: number
}

interface SealedRow {
  sealed: string
  identity: string
  /** Unless it was changed meanwhile. */
  replace: (sealed: string) => Promise<unknown>
}

export async function resealAll(db: AppDatabase, ring: KeyRing): Promise<Resealed> {
  const done = { resealed: 0, unreadable: 0 }
  for (const { sealed, identity, replace } of await rowsOfOtherKeys(db, ring)) {
    try {
      await replace(ring.seal(ring.open(sealed, identity), identity))
      done.resealed += 1
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error
      done.unreadable += 1
    }
  }
  return done
}

async function rowsOfOtherKeys(db: AppDatabase, { current }: KeyRing): Promise<SealedRow[]> {
  const rows = [...(await secretRows(db)), ...(await authRows(db)), ...(await stateRows(db))]
  return rows.filter(({ sealed }) => !sealed.startsWith(`${current}.`))
}

async function secretRows(db: AppDatabase): Promise<SealedRow[]> {
  const rows = await db.selectFrom('agent_secrets').select(['user_id', 'name', 'version', 'sealed']).execute()
  return rows.map((row) => {
    const update = db
      .updateTable('agent_secrets')
      .where('user_id', '=', row.user_id)
      .where('name', '=', row.name)
      .where('sealed', '=', row.sealed)
    return { sealed: row.sealed, identity: secretIdentity(row), replace: (sealed) => update.set({ sealed }).execute() }
  })
}

async function authRows(db: AppDatabase): Promise<SealedRow[]> {
  const rows = await db.selectFrom('auth').select(['user_id', 'provider', 'version', 'sealed']).execute()
  return rows.map((row) => {
    const update = db
      .updateTable('auth')
      .where('user_id', '=', row.user_id)
      .where('provider', '=', row.provider)
      .where('sealed', '=', row.sealed)
    return { sealed: row.sealed, identity: authIdentity(row), replace: (sealed) => update.set({ sealed }).execute() }
  })
}

/** Also those of journeys that are under way. */
async function stateRows(db: AppDatabase): Promise<SealedRow[]> {
  const rows = await db.selectFrom('oauth_state').select(['state_hash', 'sealed']).execute()
  return rows.map((row) => {
    const update = db.updateTable('oauth_state').where('state_hash', '=', row.state_hash).where('sealed', '=', row.sealed)
    return { sealed: row.sealed, identity: stateIdentity(row.state_hash), replace: (sealed) => update.set({ sealed }).execute() }
  })
}
