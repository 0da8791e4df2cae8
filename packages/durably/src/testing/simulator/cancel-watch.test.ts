import { expect, test } from 'vitest'
import type { RunRow, RunStatus } from '../../model/run.ts'
import { CancelWatch } from './cancel-watch.ts'

const ASKED = 1

test('accuses a cancel that has not reached a run two levels below', () => {
  const before = [run('top', null), run('middle', 'top'), run('low', 'middle')]
  expect(accused(before, [run('top', null, ASKED), run('middle', 'top', ASKED), run('low', 'middle')])).toEqual(['low'])
  expect(accused(before, [run('top', null, ASKED), run('middle', 'top', ASKED), run('low', 'middle', ASKED)])).toEqual([])
})

test('accuses nobody below a run that has come to another end', () => {
  const before = [run('top', null), run('middle', 'top', null, 'completed'), run('low', 'middle')]
  expect(accused(before, [run('top', null, ASKED), ...before.slice(1)])).toEqual([])
})

test('accuses no run that was triggered after the cancel', () => {
  expect(accused([run('top', null)], [run('top', null, ASKED), run('late', 'top')])).toEqual([])
})

test('looks again where the rows were read before the cancel', () => {
  const before = [run('top', null), run('low', 'top')]
  expect(accused(before, before, [run('top', null, ASKED), run('low', 'top')])).toEqual(['low'])
})

function run(id: string, parentRunId: string | null, cancelRequestedAt: number | null = null, status: RunStatus = 'running'): RunRow {
  return { id, parentRunId, cancelRequestedAt, status } as RunRow
}

function accused(before: RunRow[], ...after: RunRow[][]): (string | null)[] {
  const watch = new CancelWatch()
  watch.look(before)
  watch.cancelled('top')
  for (const rows of after) watch.look(rows)
  return watch.violations.map(({ runId }) => runId)
}
