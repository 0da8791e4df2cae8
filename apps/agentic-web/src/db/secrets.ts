// The keys of model providers, one row each, sealed. Only a worker opens them, right before it calls the model.
import { identityOf, type KeyRing } from '../secrets/key-ring.ts'
import type { StoredKey } from '../wire/settings.ts'
import type { AppDatabase, AppTransaction } from './tables.ts'

export const KEY_NAMES = ['openai_api_key', 'anthropic_api_key', 'compatible_api_key'] as const
export type KeyName = (typeof KEY_NAMES)[number]

export function secretIdentity({ user_id, name, version }: { user_id: string; name: string; version: number }): string {
  return identityOf('agent_secrets', user_id, name, version)
}

/** The version is part of what is sealed: an older sealed text beside a newer version cannot be opened. */
export async function writeSecret(trx: AppTransaction, userId: string, name: KeyName, secret: string, ring: KeyRing): Promise<void> {
  const key = { user_id: userId, name }
  const old = await trx
    .selectFrom('agent_secrets')
    .select('version')
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .executeTakeFirst()
  const version = (old?.version ?? 0) + 1
  const values = {
    sealed: ring.seal(secret, secretIdentity({ ...key, version })),
    last4: secret.slice(-4),
    version,
    updated_at: new Date().toISOString(),
  }
  await trx
    .insertInto('agent_secrets')
    .values({ ...key, ...values })
    .onConflict((conflict) => conflict.columns(['user_id', 'name']).doUpdateSet(values))
    .execute()
}

export async function removeSecret(trx: AppTransaction, userId: string, name: KeyName): Promise<void> {
  await trx.deleteFrom('agent_secrets').where('user_id', '=', userId).where('name', '=', name).execute()
}

/** Throws SecretUnreadable. */
export async function openSecret(db: AppDatabase, userId: string, name: KeyName, ring: KeyRing): Promise<string | undefined> {
  const row = await db.selectFrom('agent_secrets').selectAll().where('user_id', '=', userId).where('name', '=', name).executeTakeFirst()
  return row && ring.open(row.sealed, secretIdentity(row))
}

/** Which keys there are, and how they end. */
export async function listSecrets(db: AppDatabase, userId: string): Promise<Record<KeyName, StoredKey | null>> {
  const rows = await db.selectFrom('agent_secrets').select(['name', 'last4']).where('user_id', '=', userId).execute()
  const shown = (name: KeyName): StoredKey | null => {
    const row = rows.find((row) => row.name === name)
    return row ? { last4: row.last4 } : null
  }
  return {
    openai_api_key: shown('openai_api_key'),
    anthropic_api_key: shown('anthropic_api_key'),
    compatible_api_key: shown('compatible_api_key'),
  }
}
