import { expect, test } from 'vitest'
import { Emitter } from '../events/emitter.ts'
import { virtualEnv } from '../testing/virtual-env.ts'
import { StateChanges, type TaskStateChange } from './state-change.ts'

test('an attempt is forgotten with the execution it belongs to', () => {
  const emitter = new Emitter(virtualEnv())
  const told: TaskStateChange[] = []
  const changes = new StateChanges((change) => told.push(change))
  changes.follow(emitter)
  changes.tellOf(emitter)
  const run = { runId: 'a', jobName: 'task' }
  const dead = { type: 'run:fail', ...run, error: 'no', failedStepName: '' } as const
  changes.started({ taskId: 'a', attempt: 3, signal: new AbortController().signal }, 'task', '')
  emitter.emit(dead)
  emitter.emit({ type: 'run:retry', ...run })
  // Its worker was lost too often: no execution of this process ended.
  emitter.emit(dead)
  expect(told).toMatchObject([{ state: 'Running' }, { state: 'Dead', attempts: 3 }, { state: 'Queued', by: 'redrive' }, { state: 'Dead' }])
  expect(told.at(-1)).not.toHaveProperty('attempts')
})
