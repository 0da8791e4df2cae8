import { describe, expect, test } from 'vitest'
import { POSTGRES_SCRIPT } from '../postgres/script.ts'
import { SQLITE_SCRIPT } from '../sqlite/script.ts'
import { transactionWord } from './transaction-word.ts'

const SCRIPTS = { sqlite: SQLITE_SCRIPT, postgres: POSTGRES_SCRIPT }

describe.each(['sqlite', 'postgres'] as const)('%s', (name) => {
  const script = SCRIPTS[name]

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
    ['SELECT a$b$; COMMIT', 'COMMIT'],
    ['SELECT /* " */ 1; COMMIT; --"', 'COMMIT'],
  ])('%j: %s', (sql, word) => {
    expect(transactionWord(sql, script)).toBe(word)
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
    'SELECT CASE WHEN true THEN 1\nEND; SELECT 1',
    'PREPARE plan AS SELECT 1',
    'SAVEPOINT begin_here; RELEASE begin_here',
  ])('%j ends nothing', (sql) => {
    expect(transactionWord(sql, script)).toBeUndefined()
  })
})

/** The whole of a comment or a string, as one database reads it, and not the other. */
test.each([
  ['sqlite', 'SELECT /* /* */ 1; COMMIT; -- */', 'COMMIT'],
  ['postgres', 'SELECT /* /* */ 1; COMMIT; -- */', undefined],
  ['postgres', 'SELECT /* /* */ */ 1; COMMIT', 'COMMIT'],
  ['postgres', 'SELECT /*/*/ */ */ 1; COMMIT', 'COMMIT'],
  ['sqlite', "SELECT 'E'; SELECT '\\''; commit; '", undefined],
  ['postgres', "SELECT E'\\''; COMMIT; --'", 'COMMIT'],
  ['postgres', "SELECT e'\\\\'; COMMIT; --'", 'COMMIT'],
  ['postgres', "SELECT E'it''s \\'; COMMIT; '", undefined],
  ['postgres', "SELECT E'a'\n '\\''; COMMIT; --'", 'COMMIT'],
  ['postgres', "SELECT E'a' -- b\n '\\'; COMMIT; '", undefined],
  ['postgres', "SELECT the'\\'; COMMIT; --'", 'COMMIT'],
  ['postgres', "SELECT U&'\\'; COMMIT; --'", 'COMMIT'],
  ['postgres', 'SELECT $a$ $$ $a$; COMMIT', 'COMMIT'],
  ['postgres', 'SELECT $1, $2; COMMIT; SELECT $1', 'COMMIT'],
  ['postgres', 'DO $$ BEGIN RAISE NOTICE $a$; COMMIT$a$; END $$', undefined],
  ['postgres', 'DO $do$ BEGIN PERFORM 1; END $do$', undefined],
  ['postgres', 'DO $größe$; COMMIT; $größe$', undefined],
  ['sqlite', 'SELECT $a; COMMIT; SELECT $a', 'COMMIT'],
  ['sqlite', 'SELECT $$; COMMIT; SELECT $$', 'COMMIT'],
  ['sqlite', 'SELECT [it\'s; commit]; SELECT `"; commit`', undefined],
  ['sqlite', 'SELECT [a"]; COMMIT; --"', 'COMMIT'],
  ['postgres', "SELECT a['1']; COMMIT; SELECT a[1]", 'COMMIT'],
  ['sqlite', 'SELECT 1 -- \r; COMMIT', undefined],
  ['postgres', 'SELECT 1 -- \r; COMMIT', 'COMMIT'],
] as const)('%s: %j: %s', (name, sql, word) => {
  expect(transactionWord(sql, SCRIPTS[name])).toBe(word)
})

describe('a statement that holds others', () => {
  const trigger = 'CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM b; END'
  const atomic = 'create or replace function f() returns int begin atomic select case when true then 1 end; select 2; end'

  test.each([
    ['sqlite', trigger, undefined],
    ['sqlite', `${trigger}; ${trigger}`, undefined],
    ['sqlite', `${trigger}; END`, 'END'],
    ['sqlite', `${trigger}; COMMIT`, 'COMMIT'],
    ['sqlite', 'CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; COMMIT; END', 'COMMIT'],
    ['sqlite', 'CREATE TABLE trigger_begin (a); END', 'END'],
    ['postgres', 'CREATE TRIGGER t AFTER INSERT ON begin EXECUTE FUNCTION f(); END', 'END'],
    ['postgres', atomic, undefined],
    ['postgres', `${atomic}; ${atomic}`, undefined],
    ['postgres', `${atomic}; END`, 'END'],
    ['postgres', `${atomic}; ROLLBACK`, 'ROLLBACK'],
    ['postgres', 'CREATE PROCEDURE p() BEGIN ATOMIC END; END', 'END'],
    ['postgres', "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'BEGIN ATOMIC'; END", 'END'],
    ['sqlite', atomic, 'end'],
  ] as const)('%s: %j: %s', (name, sql, word) => {
    expect(transactionWord(sql, SCRIPTS[name])).toBe(word)
  })
})

test.each([
  "E'",
  "E'\\",
  "E''",
  "E'a' \n",
  "E'a' --",
  '/*',
  '*/',
  '/*/',
  '$a$',
  '$a',
  '[',
  '`',
  "'",
  '"',
  'create trigger ',
  ';create trigger begin',
  'create function begin ',
  'begin atomic ',
  'rollback ',
  ' ',
  '--',
  '-- \n',
])('%j a hundred thousand times takes no time that grows with its square', (piece) => {
  for (const script of Object.values(SCRIPTS)) transactionWord(piece.repeat(100_000), script)
})
