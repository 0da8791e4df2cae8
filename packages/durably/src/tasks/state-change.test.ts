import { expect, test } from 'vitest'
import { Emitter } from '../events/emitter.ts'
import { virtualEnv } from '../testing/virtual-env.ts'
import { StateChanges, type TaskStateChange } from './state-change.ts'

test('an attempt is emitted of an end by an execution of this process, and of no other', () => {
  const env = virtualEnv()
  const emitter = new Emitter(env)
  const emitted: TaskStateChange[] = []
  const attempts = new Map([['a', 3]])
  const changes = new StateChanges({ env, emit: (change) => emitted.push(change), attemptOf: (taskId) => attempts.get(taskId) })
  const run = { runId: 'a', jobName: 'task' }
  const dead = () => emitter.emit({ type: 'run:fail', ...run, error: 'no', failure: { name: 'Error', message: 'no' }, failedStepName: '' })
  const context = { taskId: 'a', attempt: 3, signal: new AbortController().signal }
  changes.started(context, 'task')
  expect(emitted).toEqual([])
  changes.follow(emitter)
  changes.follow(emitter)
  changes.started(context, 'task')
  dead()
  attempts.clear()
  emitter.emit({ type: 'run:retry', ...run })
  // Its worker was lost too often: no execution of this process ended.
  dead()
  expect(emitted).toMatchObject([
    { state: 'Running' },
    { state: 'Dead', attempts: 3 },
    { state: 'Queued', by: 'redrive' },
    { state: 'Dead' },
  ])
  expect(emitted.at(-1)).not.toHaveProperty('attempts')
})
