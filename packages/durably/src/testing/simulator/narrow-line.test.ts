import { expect, test } from 'vitest'
import { NarrowLine } from './narrow-line.ts'

test('a narrow line carries as many requests as it is wide, and the others in the order in which they were asked for', () => {
  const line = new NarrowLine(2)
  const sent: string[] = []
  const over = new Map<string, () => void>()
  for (const name of ['a', 'b', 'c', 'd'])
    line.send((done) => {
      sent.push(name)
      over.set(name, done)
    })
  expect(sent).toEqual(['a', 'b'])
  over.get('b')?.()
  expect(sent).toEqual(['a', 'b', 'c'])
  over.get('a')?.()
  expect(sent).toEqual(['a', 'b', 'c', 'd'])
})
