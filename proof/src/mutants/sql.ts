// Mutants without a guard in the statements of the SQL stores.
import type { Mutant } from './mutant.ts'

export const SQL_MUTANTS: Mutant[] = [
  {
    name: 'transaction-unfenced',
    guard: 'a transaction commits only if its step is accepted (W1)',
    store: 'sqlite',
    file: 'store/sql/shared/user-transactions.ts',
    find: 'if (!accepted) throw new Refused()',
    replace: 'if (!accepted) return { ok: false }',
  },
  {
    name: 'transaction-split',
    guard: 'the rows of a transaction and its step commit together',
    store: 'sqlite',
    file: 'store/sql/shared/user-transactions.ts',
    find: 'trx.seal()',
    replace: `trx.seal()
        await trx.run({ sql: 'commit', parameters: [], query: { kind: 'RawNode', sqlFragments: ['commit'], parameters: [] } } as never)
        await trx.run({ sql: 'begin immediate', parameters: [], query: { kind: 'RawNode', sqlFragments: ['begin'], parameters: [] } } as never)`,
  },
  {
    name: 'sql-starts-early',
    guard: 'SQL: a run is not claimed before its `run_at`',
    store: 'sqlite',
    file: 'store/sql/sqlite/claim.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: "AND p.job_name = job.value AND p.run_at <= ${p('now')}",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: "AND p.job_name = job.value AND p.run_at <= ${p('now')} + 60000",
  },
  {
    name: 'sql-loses-idempotency-key',
    guard: 'SQL: a run with an idempotency key is stored with it',
    store: 'sqlite',
    file: 'store/sql/sqlite/create-known.ts',
    find: 'run.idempotencyKey,',
    replace: 'null,',
  },
  {
    name: 'sql-group-of-triggers-loses-one',
    guard: 'SQL: each of the runs that are created by one statement is stored',
    store: 'sqlite',
    file: 'store/sql/sqlite/create.ts',
    find: 'const rows = jsonRows(chunk.map(',
    replace: 'const rows = jsonRows(chunk.slice(chunk.length > 1 ? 1 : 0).map(',
    // An event without its run would be refused.
    also: [
      {
        file: 'store/sql/sqlite/create.ts',
        find: 'insertEvents({ ids: jsonRows(chunk.map(',
        replace: 'insertEvents({ ids: jsonRows(chunk.slice(chunk.length > 1 ? 1 : 0).map(',
      },
    ],
  },
  {
    name: 'sql-group-of-triggers-mixes-answers',
    guard: 'SQL: each caller whose run is created with others gets its own',
    store: 'sqlite',
    file: 'store/sql/shared/grouped-create.ts',
    find: 'return (await created).slice(place, place + 1)',
    replace: 'return (await created).slice(0, 1)',
  },
  {
    name: 'sql-key-held-only-while-running',
    guard: 'SQL: a run with holdKey has its key while it is pending, by the pick and by its index',
    store: 'sqlite',
    file: 'store/sql/shared/guards.ts',
    find: "k.status = 'pending' AND k.hold_key = 1",
    replace: "k.status = 'pending' AND k.hold_key = 0",
    also: [
      {
        file: 'store/sql/migrations/0013-held-keys.ts',
        find: "status = 'pending' AND hold_key = 1",
        replace: "status = 'pending' AND hold_key = 0",
      },
    ],
  },
  {
    name: 'sql-signal-meets-park',
    guard: 'SQL: a run parks only if no signal came meanwhile (N3)',
    store: 'sqlite',
    file: 'store/sql/shared/owner-moves.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: "IS NULL AND r.signals <= coalesce(${p('signals')}, r.signals) THEN",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: "IS NULL AND coalesce(${p('signals')}, 0) >= 0 THEN",
  },
  {
    name: 'sql-child-wakes-nobody',
    guard: 'SQL: the end of a child makes its parent due',
    store: 'sqlite',
    file: 'store/sql/shared/owner-moves.ts',
    find: `r.waiting_for LIKE '%"kind":"child"%' THEN`,
    replace: `r.waiting_for LIKE '%"kind":"nobody"%' THEN`,
  },
  {
    name: 'sql-deadline-reclaimed',
    guard: 'SQL: a lost run whose deadline is over fails',
    store: 'sqlite',
    file: 'store/sql/shared/reap.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: "WHEN r.deadline_at <= ${now} THEN ${of('reclaimTimedOut')}",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: "WHEN r.deadline_at < 0 THEN ${of('reclaimTimedOut')}",
  },
  {
    name: 'sql-label-rows-lost',
    guard: 'SQL: each label of a run has a row by which the run is found',
    store: 'sqlite',
    file: 'store/sql/migrations/0007-labels.ts',
    find: 'FROM json_each(NEW.labels); END',
    replace: 'FROM json_each(NEW.labels) LIMIT 1; END',
  },
  {
    name: 'sql-second-label-ignored',
    guard: 'SQL: a run is found by all of the labels that are asked for',
    store: 'sqlite',
    file: 'store/sql/shared/labelled-runs.ts',
    find: 'return labels.map(',
    replace: 'return labels.slice(0, 0).map(',
  },
  {
    name: 'sql-awaited-child-purged',
    guard: 'SQL: an ended child is kept as long as its parent may ask for it',
    store: 'sqlite',
    file: 'store/sql/shared/purge.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: 'WHERE ${isOver(p)} AND ${isDeletable(t)}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: 'WHERE ${isOver(p)}',
  },
]
