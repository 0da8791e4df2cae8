// The settings of a user. A change names the version that it was made from, so two changes at once cannot undo each other.
import { z } from 'zod'
import type { KeyRing } from '../secrets/key-ring.ts'
import type { SettingsChange, SettingsView } from '../wire/settings.ts'
import { KEY_NAMES, listSecrets, removeSecret, writeSecret } from './secrets.ts'
import type { AppDatabase, AppTransaction } from './tables.ts'

const storedSettings = z.object({
  provider: z.enum(['demo', 'openai', 'anthropic', 'openai-compatible']),
  model: z.string(),
  reasoning: z.enum(['default', 'low', 'medium', 'high']),
  base_url: z.string().nullable(),
})
export type StoredSettings = z.infer<typeof storedSettings>

export const DEMO_MODEL = 'demo-scripted-1'
const INITIAL: StoredSettings = { provider: 'demo', model: DEMO_MODEL, reasoning: 'default', base_url: null }

export interface VersionedSettings {
  settings: StoredSettings
  /** 0 until something was changed. */
  version: number
  updatedAt: string | null
}

export async function readSettings(db: AppDatabase, userId: string): Promise<VersionedSettings> {
  const row = await db.selectFrom('agent_settings').selectAll().where('user_id', '=', userId).executeTakeFirst()
  if (!row) return { settings: INITIAL, version: 0, updatedAt: null }
  return { settings: storedSettings.parse(JSON.parse(row.value)), version: row.version, updatedAt: row.updated_at }
}

/** The change and the keys in it, at once. False if the version is no longer the current one. */
export async function writeSettings(
  db: AppDatabase,
  userId: string,
  { settings, change, ifVersion, ring }: { settings: StoredSettings; change: SettingsChange; ifVersion: number; ring: KeyRing },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await writeVersion(trx, userId, settings, ifVersion))) return false
    for (const name of KEY_NAMES) {
      const key = change[name]
      if (key === null) await removeSecret(trx, userId, name)
      else if (key !== undefined) await writeSecret(trx, userId, name, key, ring)
    }
    return true
  })
}

async function writeVersion(trx: AppTransaction, userId: string, settings: StoredSettings, ifVersion: number): Promise<boolean> {
  const values = { value: JSON.stringify(settings), version: ifVersion + 1, updated_at: new Date().toISOString() }
  if (ifVersion === 0) {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('agent_settings')
      .values({ user_id: userId, ...values })
      .onConflict((conflict) => conflict.column('user_id').doNothing())
      .executeTakeFirst()
    return numInsertedOrUpdatedRows === 1n
  }
  const { numUpdatedRows } = await trx
    .updateTable('agent_settings')
    .set(values)
    .where('user_id', '=', userId)
    .where('version', '=', ifVersion)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export function changeSettings(settings: StoredSettings, change: SettingsChange): StoredSettings {
  const { provider = settings.provider, model = settings.model, reasoning = settings.reasoning, base_url = settings.base_url } = change
  return { provider, model, reasoning, base_url }
}

export async function viewSettings(db: AppDatabase, userId: string): Promise<SettingsView> {
  const { settings, version, updatedAt } = await readSettings(db, userId)
  return { version, ...settings, ...(await listSecrets(db, userId)), updated_at: updatedAt }
}
