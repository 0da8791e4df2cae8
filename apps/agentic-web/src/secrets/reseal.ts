// Seals everything that is stored with the first key of APP_KEYS. Requests and runs go on meanwhile: they can open both, and a row that somebody changes
// at the same moment is left as it is, because it has the first key already.

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
  const isOld = ({ sealed }: { sealed: string }) => !sealed.startsWith(`${current}.`)
  const secrets = await db.selectFrom('agent_secrets').selectAll().execute()
  return secrets.filter(isOld).map((row) => ({
    sealed: row.sealed,
    identity: secretIdentity(row),
    replace: (sealed) =>
      db
        .updateTable('agent_secrets')
        .set({ sealed })
        .where('user_id', '=', row.user_id)
        .where('name', '=', row.name)
        .where('sealed', '=', row.sealed)
        .execute(),
  }))
}
