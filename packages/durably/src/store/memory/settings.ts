import { DEFAULT_SETTINGS, type NewSettings, type SettingsOutcome, type SettingsRow } from '../cluster/settings.ts'
import type { Tables } from './tables.ts'

export function readSettings({ settings }: Tables): SettingsRow | null {
  return settings && { ...settings, value: { ...settings.value } }
}

export function writeSettings(tables: Tables, { value, version, updatedBy }: NewSettings): SettingsOutcome {
  const known = tables.settings?.version ?? 0
  if (known !== version) return { outcome: 'changed', version: known }
  tables.settings = { value: { ...value }, version: version + 1, updatedBy, updatedAt: tables.nowMs }
  return { outcome: 'done', settings: { ...tables.settings } }
}

export function dedupeForMs({ settings }: Tables): number {
  return settings?.value.dedupeForMs ?? DEFAULT_SETTINGS.dedupeForMs
}
