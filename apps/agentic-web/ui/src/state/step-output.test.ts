import { expect, test } from 'vitest'
import { cutOutput, type Output, writePart } from './step-output.ts'

const said: Output = [
  { type: 'text', text: 'one' },
  { type: 'reasoning', text: 'a thought takes one position' },
  { type: 'text', text: 'two' },
]

test('a cut keeps exactly what is before its position', () => {
  const lengths = Array.from({ length: 9 }, (_, to) => cutOutput(said, to).map(({ type, ...part }) => ('text' in part ? part.text : type)))
  expect(lengths.map((texts) => texts.join('|').replace('a thought takes one position', '*'))).toEqual([
    ...['', 'o', 'on', 'one', 'one|*', 'one|*|t', 'one|*|tw', 'one|*|two', 'one|*|two'],
  ])
})

test('a part replaces what stands at its position and after it, and joins the text before it', () => {
  expect(writePart(said, 2, { type: 'text', text: 'ly' })).toEqual([{ type: 'text', text: 'only' }])
  expect(writePart(said, 4, { type: 'text', text: '2' })).toEqual([...said.slice(0, 2), { type: 'text', text: '2' }])
})
