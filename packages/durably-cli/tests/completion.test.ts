// The completion in a real bash, and what the others get.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMANDS } from '../src/commands/index.ts'
import { cli, temporaryFolder } from './cli.ts'

async function inBash(...words: string[]): Promise<string[]> {
  const script = join(temporaryFolder(), 'completion.bash')
  writeFileSync(script, (await cli(['completion', 'bash'])).out)
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _durably; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', program, 'bash', script, 'durably', ...words], { encoding: 'utf8' })
    .trim()
    .split('\n')
}

test('bash completes commands, options, their values and deeds', async () => {
  expect(await inBash('r')).toEqual(['runs', 'run', 'retry'])
  expect(await inBash('runs', '--st')).toEqual(['--status'])
  expect(await inBash('runs', '--status', 'c')).toEqual(['completed', 'cancelled'])
  expect(await inBash('schedules', 'p')).toEqual(['pause'])
  expect(await inBash('help', 'wo')).toEqual(['workers', 'worker'])
})

test.each(['zsh', 'fish'])('%s gets every command and option', async (shell) => {
  const { code, out } = await cli(['completion', shell])
  expect(code).toBe(0)
  for (const { name, options = {} } of COMMANDS) for (const word of [name, ...Object.keys(options)]) expect(out).toContain(word)
})

test('another shell is refused', async () => {
  expect(await cli(['completion', 'tcsh'])).toMatchObject({ code: 2, err: expect.stringContaining('<shell> "tcsh" is not known') })
})
