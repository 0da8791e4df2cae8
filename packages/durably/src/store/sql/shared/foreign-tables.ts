// What is said about tables that cannot be used. It is loaded only then: a page that creates its tables need not (ADR 0009).
import type { SchemaVersion } from './schema-version.ts'

/** A table that exists before Durably created it, or that lacks the columns Durably gives it, belongs to another program. */
export function notOurs(problem: string): string {
  return (
    'the database has tables or indexes with the names of those of Durably that are not its own, so nothing was created. Give Durably ' +
    `a place of its own: another file with sqlite(), postgres(url, { schema: 'durably' }) with Postgres, or the option tablePrefix (${problem})`
  )
}

/** `known` is the version that this code knows. */
export function tooNew({ version, oldestCode }: SchemaVersion, known: number): string {
  return `the database has schema version ${version}, which needs code that knows version ${oldestCode}; this one knows ${known}; update the package of this process`
}
