import { expect, test } from 'vitest'
import { transactionWord } from './transaction-word.ts'

test.each([
  ['COMMIT', 'COMMIT'],
  ['; ;commit', 'commit'],
  ['END TRANSACTION', 'END'],
  ['SELECT 1; COMMIT', 'COMMIT'],
  ['SELECT 1;\n-- now\nROLLBACK', 'ROLLBACK'],
  ['SELECT 1; /* now; */ ABORT', 'ABORT'],
  ['ROLLBACK /* to */', 'ROLLBACK'],
  ['ROLLBACK -- back to start', 'ROLLBACK'],
  ['ROLLBACK; SELECT 1 to', 'ROLLBACK'],
  ["PREPARE TRANSACTION 'x'", 'PREPARE TRANSACTION'],
  ['START TRANSACTION', 'START TRANSACTION'],
  ["SELECT '/*'; COMMIT; SELECT '*/'", 'COMMIT'],
  ["SELECT '\\'; COMMIT; SELECT ''", 'COMMIT'],
  ['SELECT $a$ $$ $a$; COMMIT', 'COMMIT'],
  ['SELECT a$b$; COMMIT', 'COMMIT'],
])('%j: %s', (sql, word) => {
  expect(transactionWord(sql)).toBe(word)
})

test.each([
  'ROLLBACK TO mine',
  'ROLLBACK TRANSACTION TO SAVEPOINT mine',
  'rollback work/**/to "mine"',
  "INSERT INTO notes VALUES ('one; commit')",
  "INSERT INTO notes VALUES ('it''s; commit')",
  'SELECT ";commit;" FROM notes',
  'SELECT 1 -- ; commit',
  'SELECT 1 /* ; commit',
  'DO $$ BEGIN RAISE NOTICE $a$; COMMIT$a$; END $$',
  'DO $do$ BEGIN PERFORM 1; END $do$',
  'SELECT CASE WHEN true THEN 1\nEND; SELECT 1',
  'PREPARE plan AS SELECT 1',
  'SAVEPOINT begin_here; RELEASE begin_here',
])('%j ends nothing', (sql) => {
  expect(transactionWord(sql)).toBeUndefined()
})
