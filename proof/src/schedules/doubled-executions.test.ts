import { expect, test } from 'vitest'
import { doubledExecutions } from './doubled-executions.ts'

const lines = (...all: string[]) => `${all.join('\n')}\n`

test('two processes that execute a run at once are found', () => {
  const { doubled, executions, reclaimed } = doubledExecutions(lines('begin a 1 10', 'begin a 2 20', 'end a 1 30', 'end a 2 40'), new Map())
  expect([doubled.length, executions, reclaimed]).toEqual([1, 2, 1])
})

test('one after the other is allowed, also after one that was killed', () => {
  const ledger = lines('begin a 1 10', 'begin b 1 10', 'end b 1 15', 'begin b 2 15', 'end b 2 20', 'begin a 2 25', 'end a 2 30')
  expect(doubledExecutions(ledger, new Map([[1, 24]])).doubled).toEqual([])
  expect(doubledExecutions(ledger, new Map([[1, 26]])).doubled.length).toBe(1)
  expect(doubledExecutions(ledger, new Map()).doubled.length).toBe(1)
})
