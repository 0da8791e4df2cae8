// A word is right if a real shell reads it back.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { shellWord } from './shell-word.ts'

test.each([
  ['charge-card', 'charge-card'],
  ['charge card', "'charge card'"],
  ["it's", `'it'\\''s'`],
  ['', "''"],
  ['$(rm -rf /); `id` | "x" \\ & * ~', undefined],
  ["two\nlines, a tab\tand a 'quote' \\n", undefined],
  ['\u001b[2J\u202eevil\u0085', undefined],
  ['日本 👩‍👧', undefined],
])('%j', (text, shown) => {
  const word = shellWord(text)
  if (shown !== undefined) expect(word).toBe(shown)
  expect(word).not.toMatch(/[\u0000-\u001f\u0080-\u009f\u202e]/)
  const env = { ...process.env, LC_ALL: 'C.UTF-8' }
  expect(execFileSync('bash', ['-c', `printf '%s|' ${word}`], { env, encoding: 'utf8' })).toBe(`${text}|`)
})
