// How the command line is read, and what it says about mistakes.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../src/commands/index.ts'
import { cli, openAt, temporaryFolder } from './cli.ts'

describe('a mistake is named, with the nearest right word, and the exit code is 2', () => {
  test.each([
    [['rnus'], 'there is no command "rnus"; did you mean runs?'],
    [['zzzzzz'], 'there is no command "zzzzzz"; there is dev, runs, run,'],
    [['runs', '--staus', 'failed'], 'there is no option "--staus"; did you mean --status?'],
    [['runs', '-x'], 'there is no option "-x"'],
    [['runs', '--status', 'faild'], '--status "faild" is not known; did you mean failed?'],
    [['runs', '--limit', 'ten'], '--limit must be a whole number from 1 to 100000, got "ten"'],
    [['runs', '--since', 'yesterday'], '--since must be an age such as 30m'],
    [['runs', '--label', 'tenant'], '--label must be name=value, got "tenant"'],
    [['runs', '--limit', '1', '--limit', '2'], '--limit was given 2 times'],
    [['runs', '--watch=yes'], '--watch takes no value'],
    [['runs', 'extra'], '"extra" is one argument too many'],
    [['run'], '<id> is missing: the id of the run'],
    [['schedules', 'pauze', 'x'], '<deed> "pauze" is not known; did you mean pause?'],
    [['trigger', 'greet', '--input', 'Ada'], `a text needs quotes of its own: '"Ada"'`],
    [['trigger', 'greet', '--input', '@nothing.json'], '--input: the file "nothing.json" cannot be read (ENOENT)'],
    [['trigger', 'greet', '--jobs', 'nothing.ts'], 'there is no file "nothing.ts"'],
    [['purge'], '--older-than is missing'],
    [['cancel'], 'say which runs: an id, or an option such as --job'],
  ])('%j', async (words, message) => {
    const db = join(temporaryFolder(), 'test.db')
    await openAt(db)
    const { code, out, err } = await cli(words, { env: { DURABLY_DB: db } })
    expect(err).toContain(message)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  test('no database', async () => {
    expect(await cli(['runs'])).toMatchObject({ code: 2, err: expect.stringContaining('give --db app.db') })
    expect(await cli(['runs', '--db', 'mysql://host/x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('mysql:// is not supported'),
    })
  })
})

test('a database that cannot be reached or read has an exit code of its own, and no password is shown', async () => {
  const unreachable = await cli(['runs', '--db', 'postgres://ada:secret@127.0.0.1:1/app'])
  expect(unreachable.code).toBe(3)
  expect(unreachable.err).not.toContain('secret')
  const folder = await cli(['runs', '--db', temporaryFolder()])
  expect(folder).toMatchObject({ code: 3, err: expect.stringContaining('it is a directory') })
})

test.each(COMMANDS.map(({ name }) => name))('help of %s has a usage and examples', async (name) => {
  const { code, out } = await cli([name, '--help'])
  expect(code).toBe(0)
  expect(out).toContain(`durably ${name}`)
  expect(out).toMatch(/\nExamples\n {2}(durably|echo|source) /)
  expect(await cli(['help', name])).toMatchObject({ code: 0, out })
})

test('a table fits the terminal, ids stay whole, and a hostile text moves no cursor', async () => {
  const db = join(temporaryFolder(), 'test.db')
  const durably = await openAt(db)
  const hostile = '\u001b[2J\u001b]0;owned\u0007\u202eevil\nnext'
  const long = durably.defineJob(
    {
      name: `${'a-very-long-name-'.repeat(6)}日本語`,
      input: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } },
    },
    async () => {
      throw new Error(hostile.repeat(20))
    },
  )
  const { id } = await long.trigger(hostile)
  await durably.processUntilIdle()
  const { out } = await cli(['runs', '--db', db], { columns: 100 })
  const lines = out.trimEnd().split('\n')
  expect(lines.map((line) => line.length <= 100)).toEqual([true, true])
  expect(out).toContain(id)
  const colored = await cli(['run', id, '--db', db], { columns: 100, hasColors: true })
  for (const text of [out, colored.out.replaceAll(/\u001b\[\d+m/g, '')]) expect(text).not.toMatch(/[\u001b\u0007\u202e]/)
  expect(colored.out).toContain('\u001b[31m')
  expect((await cli(['run', id, '--db', db])).out).not.toContain('\u001b')
})
