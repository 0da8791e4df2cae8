// Real processes on a real file: a worker is killed in the middle of a run, another one goes on.
import { describe, expect, test } from 'vitest'
import { setup } from './worker-process.ts'

/** As in fixtures/worker.mjs. */
const STALE_THRESHOLD_MS = 1000

describe('a worker process', () => {
  test('that is killed is replaced within staleThreshold + 1 s; recorded steps do not run again, progress is kept (001 §再開時)', async () => {
    const { durably, job, ran, startWorker } = await setup()
    const { id } = await job.trigger({ steps: 6, stepMs: 5 })
    const first = await startWorker(3)
    await first.told('hanging')
    const second = await startWorker()
    first.kill('SIGKILL')
    const killedAt = Date.now()
    await first.exited
    expect(await durably.getRun(id)).toMatchObject({ status: 'running', currentStepIndex: 3, progress: { current: 3, total: 6 } })

    const { at } = await second.told('run:start')
    expect(at - killedAt).toBeLessThanOrEqual(STALE_THRESHOLD_MS + 1000)
    const { output } = await second.told('run:complete')
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', currentStepIndex: 6, progress: { current: 6, total: 6 } })
    const by = (worker: typeof first, i: number) => `${i} by ${worker.pid}`
    expect(output).toEqual([by(first, 0), by(first, 1), by(first, 2), by(second, 3), by(second, 4), by(second, 5)])
    expect(ran()).toEqual([...[0, 1, 2, 3].map((i) => `${first.pid} step ${i}`), ...[3, 4, 5].map((i) => `${second.pid} step ${i}`)])
  })

  test('that is killed again and again still gets its run done', async () => {
    const { durably, job, ran, startWorker } = await setup()
    const { id } = await job.trigger({ steps: 6, stepMs: 5 })
    const pids: number[] = []
    for (const hangsAt of [2, 4]) {
      const worker = await startWorker(hangsAt)
      pids.push(worker.pid)
      await worker.told('hanging')
      worker.kill('SIGKILL')
      await worker.exited
    }
    const last = await startWorker()
    await last.told('run:complete')
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', currentStepIndex: 6, recoveries: 0 })
    const [first, second] = pids
    const expected = [
      [first, 0],
      [first, 1],
      [first, 2],
      [second, 2],
      [second, 3],
      [second, 4],
      [last.pid, 4],
      [last.pid, 5],
    ]
    expect(ran()).toEqual(expected.map(([pid, i]) => `${pid} step ${i}`))
  })

  test('that is suspended for longer than its lease loses its run, and writes nothing when it wakes up', async () => {
    const { durably, job, ran, startWorker } = await setup()
    const { id } = await job.trigger({ steps: 5, stepMs: 400 })
    const zombie = await startWorker()
    await zombie.told('step:complete', ({ stepName }) => stepName === 'step 1')
    zombie.kill('SIGSTOP')
    const rival = await startWorker()
    await rival.told('run:complete')
    const before = await durably.getRun(id)
    zombie.kill('SIGCONT')
    await zombie.told('worker:error', ({ error }) => error.includes('lease'))

    expect(await durably.getRun(id)).toEqual(before)
    expect(zombie.messages.some(({ type }) => type === 'run:complete')).toBe(false)
    const byZombie = ran().filter((line) => line.startsWith(`${zombie.pid} `))
    expect(byZombie.length).toBeLessThanOrEqual(3)
    expect(new Set(ran()).size).toBe(ran().length)
  })
})
