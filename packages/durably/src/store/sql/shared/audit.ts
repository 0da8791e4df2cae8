// The audit in the statements of commands. Where a statement may write in a WITH (Postgres), the entry is stored by the statement that it
// records, which knows what it has changed. Elsewhere (SQLite) it is stored by the next statement, which asks how many rows the one before it
// has changed.
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { type Audited, type NewAuditEntry, OUTDATED_MAX } from '../../cluster/audit.ts'
import { DEFAULT_SETTINGS } from '../../cluster/settings.ts'
import type { SqlDeps } from './deps.ts'
import { setting } from './setting.ts'
import type { Param, Value } from './statement.ts'

type Fragment = RawBuilder<unknown>
type AuditDeps = Pick<SqlDeps, 'statement' | 'tables' | 'syntax'>

export interface EntryValues {
  entryId: string
  actor: string
  action: string
  targetKind: string
  targetId: string
  detail: string | null
  /** The version of the target after what is recorded, where it is known before. */
  nextVersion: number | null
  now: number
}

type EntryParam = Param<EntryValues>

export function entryValues({ id, ...entry }: NewAuditEntry, nextVersion: number | null, now: number): EntryValues {
  return { ...entry, entryId: id, nextVersion, now }
}

/** Stores the entry if that was `done`. */
function insertEntry({ tables: t, syntax }: AuditDeps, p: EntryParam, done: Fragment, version: Fragment): Fragment {
  return sql`INSERT INTO ${t.audit} (id, created_at, actor, action, target_kind, target_id, version, detail)
    SELECT ${p('entryId')}, ${syntax.now(p)}, ${p('actor')}, ${p('action')}, ${p('targetKind')}, ${p('targetId')}, ${version}, ${p('detail')}
    WHERE ${done} ON CONFLICT DO NOTHING`
}

/** U3. */
export function forgetOld(deps: AuditDeps, p: Param<{ now: number }>): Fragment {
  const { tables: t, syntax } = deps
  const keptMs = setting(deps, 'auditForMs', sql.lit(DEFAULT_SETTINGS.auditForMs))
  return sql`DELETE FROM ${t.audit} WHERE id IN (SELECT r.id FROM ${t.audit} AS r WHERE r.created_at <= ${syntax.now(p)} - ${keptMs}
    ORDER BY r.created_at, r.id LIMIT ${sql.lit(OUTDATED_MAX)} ${syntax.skipLocked})`
}

const knownBefore = (p: EntryParam) => sql`CAST(${p('nextVersion')} AS bigint)`

/** What a WITH needs to record that it has `changed` rows. */
function inWith(deps: AuditDeps, p: EntryParam, changed: Fragment, version = knownBefore(p)): Fragment {
  return sql`, audited AS (${insertEntry(deps, p, sql`EXISTS (SELECT 1 FROM ${changed})`, version)}), outdated AS (${forgetOld(deps, p)})`
}

/** Statements that stand after the one that is recorded; `version` reads the version of the target, where it is not known before. */
export function afterwards(deps: AuditDeps, version: (p: EntryParam) => Fragment = knownBefore): (values: EntryValues) => CompiledQuery[] {
  let made: ((values: EntryValues) => CompiledQuery)[] | undefined
  return (values) => {
    made ??= [
      deps.statement<EntryValues>((p) => insertEntry(deps, p, sql`changes() > 0`, version(p))),
      deps.statement<EntryValues>((p) => forgetOld(deps, p)),
    ]
    return made.map((one) => one(values))
  }
}

type Values<P> = { [K in keyof P]: Value }

/**
 * A statement that changes at most one row and returns it, and what records that. The statement begins without a clock. `nextVersion`: of the
 * row as the statement leaves it.
 */
export function recorded<P extends Values<P> & { now: number }>(
  deps: AuditDeps,
  write: (p: Param<P>) => Fragment,
): (values: P, options?: Audited, nextVersion?: number | null) => CompiledQuery[] {
  const { statement, syntax } = deps
  const plain = statement<P>((p) => sql`${syntax.clock(p)} ${write(p)}`)
  const entry = afterwards(deps)
  let whole: ((values: P & EntryValues) => CompiledQuery) | undefined
  return (values, { audit } = {}, nextVersion = null) => {
    if (!audit) return [plain(values)]
    const entryOf = entryValues(audit, nextVersion, values.now)
    if (!syntax.writesInWith) return [plain(values), ...entry(entryOf)]
    whole ??= statement<P & EntryValues>(
      (p) => sql`${syntax.clock(p)}, written AS (${write(p as Param<P>)})${inWith(deps, p, sql`written`)} SELECT * FROM written`,
    )
    return [whole({ ...values, ...entryOf })]
  }
}

/** What a statement puts into its WITH to be recorded; nothing where it has no actor. */
export type Entry = (changed: Fragment, version?: Fragment) => Fragment

/** A statement in two forms, with and without an entry. The second one is compiled when somebody is to be recorded. */
export function recordable<P extends Values<P> & { now: number }>(
  deps: AuditDeps,
  build: (p: Param<P>, entry: Entry) => Fragment,
): (values: P, options: Audited, nextVersion?: number | null) => CompiledQuery {
  const plain = deps.statement<P>((p) => build(p, () => sql``))
  let whole: ((values: P & EntryValues) => CompiledQuery) | undefined
  return (values, { audit }, nextVersion = null) => {
    if (!audit) return plain(values)
    whole ??= deps.statement<P & EntryValues>((p) => build(p as Param<P>, (changed, version) => inWith(deps, p, changed, version)))
    return whole({ ...values, ...entryValues(audit, nextVersion, values.now) })
  }
}
