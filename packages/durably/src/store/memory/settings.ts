import type { Audited } from '../cluster/audit.ts'
import type { NewSettings, SettingsOutcome, SettingsRow } from '../cluster/settings.ts'
import { record } from './audit.ts'
import type { Tables } from './tables.ts'

export function readSettings({ settings }: Tables): SettingsRow | null {
  return settings && { ...settings, value: { ...settings.value } }
}

export function writeSettings(tables: Tables, settings: NewSettings, options: Audited = {}): SettingsOutcome {
  const { value, version, updatedBy } = settings
  const known = tables.settings?.version ?? 0
  if (known !== version) return { outcome: 'changed', version: known }
  tables.settings = { value: { ...value }, version: version + 1, updatedBy, updatedAt: tables.nowMs }
  record(tables, options, tables.settings.version)
  return { outcome: 'done', settings: { ...tables.settings } }
}
