import { type RawBuilder, sql } from 'kysely'
import type { Clock } from '../open-sql.ts'
import type { Syntax } from '../shared/syntax.ts'

/** Any number, the same in every process that migrates. */
export const MIGRATION_LOCK = 5_832_717_406

const DATABASE_CLOCK = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`

export function postgresSyntax(whose: Clock): Syntax {
  return {
    // Not jsonb, which refuses NULs and lone surrogates, also as escapes in a text within the text.
    elements: (json) => sql`LATERAL (SELECT value, ordinality - 1 AS key FROM json_array_elements(${json}::json) WITH ORDINALITY)`,
    // Postgres expects ten rows of an array, and a hundred of a JSON function: with those it would compile a claim by its JIT.
    texts: (json) =>
      sql`(SELECT value, ordinality - 1 AS key FROM unnest(ARRAY(SELECT json_array_elements_text(${json}::json))) WITH ORDINALITY AS text(value, ordinality))`,
    count: (json) => sql`coalesce(json_array_length(${json}::json), 0)`,
    member: (json, name) => sql`${json}::json ->> ${sql.lit(name)}`,
    // To look a key up takes Postgres five times as long as to find that it is known.
    knownKeys: sql`1000`,
    // Asked once per statement: the time would go on within it, and no index is searched for a moving value.
    clock: (p) => sql`WITH clock AS MATERIALIZED (SELECT ${whose === 'env' ? sql`${p('now')}::bigint` : DATABASE_CLOCK} AS now)`,
    now: () => sql`(SELECT now FROM clock)`,
    readAt: whose === 'env' ? nothing : sql`, ${DATABASE_CLOCK} AS read_at`,
    // Not FOR UPDATE, which would also pass over a run that a row of the user's own just refers to.
    skipLocked: sql`FOR NO KEY UPDATE OF r SKIP LOCKED`,
    lock: sql`FOR NO KEY UPDATE OF r`,
    keep: sql`FOR KEY SHARE OF r`,
    by: () => nothing,
    namesIndexes: false,
    insertionOrder: sql`inserted`,
    insertionColumn: sql`, inserted BIGINT GENERATED ALWAYS AS IDENTITY`,
    creationOrder: sql`id`,
    key: sql`TEXT COLLATE "C"`,
    belongsTo: (runs: RawBuilder<unknown>) => sql`REFERENCES ${runs} (id) ON DELETE CASCADE`,
    writesInWith: true,
    cascades: true,
    clustered: nothing,
    triggerBody: (name, statement) => ({
      // It finds the tables of the migration, whatever the search path of the statement is that it goes with.
      define: [
        sql`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$BEGIN ${statement}; RETURN NULL; END$$`,
      ],
      call: sql`EXECUTE FUNCTION ${name}()`,
    }),
    bigint: sql`BIGINT`,
    migrationLock: sql`SELECT pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`,
  }
}

const nothing = sql``
