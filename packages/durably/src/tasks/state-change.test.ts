import { expect, test } from 'vitest'
import { Emitter } from '../events/emitter.ts'
import { virtualEnv } from '../testing/virtual-env.ts'
import { StateChanges, type TaskStateChange } from './state-change.ts'

test('an attempt is told of an end by an execution of this process, and of no other', () => {
  const env = virtualEnv()
  const emitter = new Emitter(env)
  const told: TaskStateChange[] = []
  const inHand = new Map([['a', 3]])
  const changes = new StateChanges({ env, emit: (change) => told.push(change), attemptOf: (taskId) => inHand.get(taskId) })
  const run = { runId: 'a', jobName: 'task' }
  const dead = () => emitter.emit({ type: 'run:fail', ...run, error: 'no', failedStepName: '' })
  const context = { taskId: 'a', attempt: 3, signal: new AbortController().signal }
  changes.started(context, 'task')
  expect(told).toEqual([])
  changes.follow(emitter)
  changes.follow(emitter)
  changes.started(context, 'task')
  dead()
  inHand.clear()
  emitter.emit({ type: 'run:retry', ...run })
  // Its worker was lost too often: no execution of this process ended.
  dead()
  expect(told).toMatchObject([{ state: 'Running' }, { state: 'Dead', attempts: 3 }, { state: 'Queued', by: 'redrive' }, { state: 'Dead' }])
  expect(told.at(-1)).not.toHaveProperty('attempts')
})
