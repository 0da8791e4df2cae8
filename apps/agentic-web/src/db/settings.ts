// The settings of a user. A change names the version that it was made from, so two changes at once cannot undo each other.
import { z } from 'zod'
import type { SettingsChange, SettingsView, StoredKey } from '../wire/settings.ts'
import type { Secrets } from './secrets.ts'
import type { AppDatabase } from './tables.ts'

const KEYS = ['openai_api_key', 'anthropic_api_key', 'compatible_api_key'] as const
export type KeyName = (typeof KEYS)[number]

const storedKey = z.object({ encrypted: z.string(), last4: z.string() })
const storedSettings = z.object({
  provider: z.enum(['demo', 'openai', 'anthropic', 'openai-compatible']),
  model: z.string(),
  reasoning: z.enum(['default', 'low', 'medium', 'high']),
  base_url: z.string().nullable(),
  keys: z.partialRecord(z.enum(KEYS), storedKey),
})
export type StoredSettings = z.infer<typeof storedSettings>

export const DEMO_MODEL = 'demo-scripted-1'
const INITIAL: StoredSettings = { provider: 'demo', model: DEMO_MODEL, reasoning: 'default', base_url: null, keys: {} }

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

/** False if the version is no longer the current one. */
export async function writeSettings(db: AppDatabase, userId: string, settings: StoredSettings, ifVersion: number): Promise<boolean> {
  const values = { value: JSON.stringify(settings), version: ifVersion + 1, updated_at: new Date().toISOString() }
  if (ifVersion === 0) {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('agent_settings')
      .values({ user_id: userId, ...values })
      .onConflict((conflict) => conflict.column('user_id').doNothing())
      .executeTakeFirst()
    return numInsertedOrUpdatedRows === 1n
  }
  const { numUpdatedRows } = await db
    .updateTable('agent_settings')
    .set(values)
    .where('user_id', '=', userId)
    .where('version', '=', ifVersion)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export function changeSettings(settings: StoredSettings, change: SettingsChange, secrets: Secrets, userId: string): StoredSettings {
  const { provider = settings.provider, model = settings.model, reasoning = settings.reasoning, base_url = settings.base_url } = change
  const keys = { ...settings.keys }
  for (const name of KEYS) {
    const key = change[name]
    if (key === null) delete keys[name]
    else if (key !== undefined) keys[name] = { encrypted: secrets.encrypt(key, purposeOf(userId, name)), last4: key.slice(-4) }
  }
  return { provider, model, reasoning, base_url, keys }
}

/** The key itself; only a worker asks for it, right before it calls the model. */
export function keyOf({ keys }: StoredSettings, name: KeyName, secrets: Secrets, userId: string): string | undefined {
  const key = keys[name]
  return key && secrets.decrypt(key.encrypted, purposeOf(userId, name))
}

function purposeOf(userId: string, name: KeyName): string {
  return `${userId}|${name}`
}

export function settingsView({ settings, version, updatedAt }: VersionedSettings): SettingsView {
  const shown = (name: KeyName): StoredKey | null => {
    const key = settings.keys[name]
    return key ? { last4: key.last4 } : null
  }
  return {
    version,
    provider: settings.provider,
    model: settings.model,
    reasoning: settings.reasoning,
    base_url: settings.base_url,
    openai_api_key: shown('openai_api_key'),
    anthropic_api_key: shown('anthropic_api_key'),
    compatible_api_key: shown('compatible_api_key'),
    updated_at: updatedAt,
  }
}
