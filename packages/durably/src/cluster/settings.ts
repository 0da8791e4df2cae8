// Settings — what callers do with the settings of all processes.
import { type Duration, durationMs } from '../model/duration.ts'
import type { Env } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { isoOrNull } from '../model/run.ts'
import { versionMismatch } from '../model/version-mismatch.ts'
import { audited } from '../store/cluster/audited.ts'
import { DEFAULT_SETTINGS, type SettingsRow, type SettingsStore, type SettingsValue } from '../store/cluster/settings.ts'
import type { CommandOptions } from '../store/runs.ts'

/** The settings that all processes share, as `durably.settings.get()` returns them. */
export interface ClusterSettings {
  /** For how long a `dedupeKey` is kept after its event was delivered, in milliseconds. Default 7 days. */
  dedupeFor: number
  /** For how long entries of the audit are kept, in milliseconds. Default 366 days. */
  auditFor: number
  /** How long ago a run must have ended before its log is archived, in milliseconds; null: as the option `archive` of each process says. */
  archiveAfter: number | null
  /** After how long a run that was not started gets another worker, in milliseconds; null: as `cluster()` of the leader says. */
  reassignAfter: number | null
  /** How long the lease of the leader is, in milliseconds: after so long a leader that is gone is replaced. Default 10 seconds. */
  leaderLease: number
  /** Grows with every change; 0 before the first. Pass it as `ifVersion` to change them only if nobody did since. */
  version: number
  /** When they were last changed, as ISO-8601 text; null if they never were. */
  updatedAt: string | null
  /** Who changed them last: the `actor` of that call; null if it had none. */
  updatedBy: string | null
}

/** What `durably.settings.set()` changes. What is left out stays as it is; null takes a setting back. */
export interface SettingsChange {
  /** For how long a `dedupeKey` is kept after its event was delivered: from one second to 366 days. */
  dedupeFor?: Duration | null
  /** For how long entries of the audit are kept: from one hour to 3660 days. */
  auditFor?: Duration | null
  /** How long ago a run must have ended before its log is archived: from one second to 3660 days. */
  archiveAfter?: Duration | null
  /** After how long a run that was not started gets another worker, if its worker is gone: from one second to one day. */
  reassignAfter?: Duration | null
  /** How long the lease of the leader is: from two seconds to one hour. */
  leaderLease?: Duration | null
}

/** The options of `durably.settings.set()`. The actor is also `updatedBy`. */
export interface SetOptions extends CommandOptions {}

const SECOND = 1000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR

interface Bounds {
  name: keyof SettingsValue
  minMs: number
  maxMs: number
  /** The same in words. */
  between: string
}

const SETTINGS: { readonly [K in keyof SettingsChange]-?: Bounds } = {
  dedupeFor: { name: 'dedupeForMs', minMs: SECOND, maxMs: 366 * DAY, between: 'from one second to 366 days' },
  auditFor: { name: 'auditForMs', minMs: HOUR, maxMs: 3660 * DAY, between: 'from one hour to 3660 days' },
  archiveAfter: { name: 'archiveAfterMs', minMs: SECOND, maxMs: 3660 * DAY, between: 'from one second to 3660 days' },
  reassignAfter: { name: 'reassignAfterMs', minMs: SECOND, maxMs: DAY, between: 'from one second to one day' },
  leaderLease: { name: 'leaderLeaseMs', minMs: 2 * SECOND, maxMs: HOUR, between: 'from two seconds to one hour' },
}
const SET_OPTIONS: KeysOf<SetOptions> = { ifVersion: 1, actor: 1 }
const TRIES_MAX = 20

export interface SettingsDeps {
  /** Absent if the store keeps none. */
  cluster: SettingsStore | undefined
  env: Env
}

/** The settings of all processes, as `durably.settings`. */
export class Settings {
  readonly #deps: SettingsDeps

  constructor(deps: SettingsDeps) {
    this.#deps = deps
  }

  /** Reads the settings. */
  async get(): Promise<ClusterSettings> {
    return toSettings(await this.#cluster.readSettings())
  }

  /** Changes settings for all processes, at once, and returns all of them. If nothing differs, nothing is written. */
  async set(change: SettingsChange, options: SetOptions = {}): Promise<ClusterSettings> {
    checkKeys('settings.set', change, SETTINGS)
    checkKeys('settings.set', options, SET_OPTIONS)
    const { ifVersion, actor } = options
    const wanted = valuesOf(change)
    // The same in each attempt; it is only recorded with the one that is written.
    const entry = audited(this.#deps.env, options, 'settings:set', 'settings', change)
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const known = await this.#cluster.readSettings()
      const version = known?.version ?? 0
      if (ifVersion !== undefined && ifVersion !== version) throw versionMismatch('the settings', { expected: ifVersion, actual: version })
      const before: Partial<SettingsValue> = known?.value ?? {}
      if (wanted.every(([name, ms]) => (before[name] ?? null) === ms)) return toSettings(known)
      const value = Object.fromEntries(Object.entries({ ...before, ...Object.fromEntries(wanted) }).filter(([, ms]) => ms !== null))
      const answer = await this.#cluster.writeSettings({ value, version, updatedBy: actor ?? null }, entry)
      if (answer.outcome === 'done') return toSettings(answer.settings)
    }
    throw new DurablyError('store_busy', `the settings were changed by others ${TRIES_MAX} times in a row; try again`)
  }

  get #cluster(): SettingsStore {
    if (this.#deps.cluster) return this.#deps.cluster
    throw new DurablyError('inbox_unsupported', 'the store of this instance keeps no settings; use memoryStore(), SQLite or Postgres')
  }
}

/** What is to be stored; null for a setting that is taken back. */
function valuesOf(change: SettingsChange): [keyof SettingsValue, number | null][] {
  return (Object.keys(SETTINGS) as (keyof SettingsChange)[]).flatMap((field) => {
    const duration = change[field]
    if (duration === undefined) return []
    const { name, minMs, maxMs, between } = SETTINGS[field]
    const ms = duration === null ? null : durationMs(field, duration)
    if (ms !== null && (ms < minMs || ms > maxMs)) throw new DurablyError('invalid_argument', `${field} must be ${between}, got ${ms} ms`)
    return [[name, ms]]
  })
}

function toSettings(row: SettingsRow | null): ClusterSettings {
  const value: Partial<SettingsValue> = row?.value ?? {}
  return {
    dedupeFor: value.dedupeForMs ?? DEFAULT_SETTINGS.dedupeForMs,
    auditFor: value.auditForMs ?? DEFAULT_SETTINGS.auditForMs,
    archiveAfter: value.archiveAfterMs ?? null,
    reassignAfter: value.reassignAfterMs ?? null,
    leaderLease: value.leaderLeaseMs ?? DEFAULT_SETTINGS.leaderLeaseMs,
    version: row?.version ?? 0,
    updatedAt: isoOrNull(row?.updatedAt ?? null),
    updatedBy: row?.updatedBy ?? null,
  }
}
