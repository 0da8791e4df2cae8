import { expect, test } from 'vitest'
import type { WorkerRow } from '../store/cluster/workers.ts'
import { planAssignments } from './plan-assignments.ts'

function worker(id: string, given: Partial<WorkerRow> = {}): WorkerRow {
  const times = { attachedAt: 0, heartbeatAt: 0, expiresInMs: 1 }
  return {
    id,
    labels: '{}',
    capacity: 1,
    jobNames: '["job"]',
    version: null,
    state: 'attached',
    ...times,
    assigned: 0,
    running: 0,
    ...given,
  }
}

function runs(count: number, jobName = 'job', preferWorkerId: string | null = null) {
  return Array.from({ length: count }, (_, i) => ({ id: `run ${i}`, jobName, version: i, preferWorkerId }))
}

test('each run goes to the worker with the most room, in proportion to its capacity', () => {
  const planned = planAssignments(runs(6), [worker('small'), worker('large', { capacity: 5 })])
  expect(planned.filter(({ workerId }) => workerId === 'large').length).toBe(5)
  expect(planned[0]).toEqual({ runId: 'run 0', version: 0, workerId: expect.any(String) })
})

test('a worker gets no more than twice its capacity, with what it has already', () => {
  expect(planAssignments(runs(5), [worker('a', { capacity: 2, running: 2, assigned: 1 })]).length).toBe(1)
  expect(planAssignments(runs(5), [worker('a', { capacity: 2, running: 5 })])).toEqual([])
})

test.each([{ state: 'draining' }, { state: 'detached' }, { expiresInMs: 0 }, { jobNames: '["other"]' }] as const)(
  'nothing for %j',
  (given) => {
    expect(planAssignments(runs(1), [worker('a', given)])).toEqual([])
  },
)

test('a run that no worker can take does not hold up the others', () => {
  const [first, second] = [...runs(1, 'unknown'), ...runs(1)]
  expect(
    planAssignments(
      [first, second].flatMap((run) => run ?? []),
      [worker('a')],
    ).length,
  ).toBe(1)
})

test('a run goes to the worker that it prefers, also if another has more room', () => {
  const workers = [worker('a', { capacity: 3, running: 1 }), worker('b', { capacity: 3 })]
  expect(planAssignments(runs(1, 'job', 'a'), workers)).toMatchObject([{ workerId: 'a' }])
})

test.each([{ running: 1 }, { assigned: 1 }, { state: 'draining' }, { expiresInMs: 0 }, { jobNames: '["other"]' }] as const)(
  'a run does not wait for the worker that it prefers: %j',
  (given) => {
    expect(planAssignments(runs(1, 'job', 'a'), [worker('a', given), worker('b')])).toMatchObject([{ workerId: 'b' }])
    expect(planAssignments(runs(1, 'job', 'nobody'), [worker('b')])).toMatchObject([{ workerId: 'b' }])
  },
)
