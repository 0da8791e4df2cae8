// `{ ifVersion }`: a decision that a person made about a run holds only for the run as it was seen.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setup, WORLDS } from './world.ts'

describe.each(WORLDS)('if the version is the same (%s)', (name) => {
  test('cancel, retry and deleteRun refuse another version, and name both', async () => {
    const { durably } = await setup(name)
    const job = durably.defineJob({ name: 'job', input: z.object({}) }, () => {})
    const { id, version } = await job.trigger({})
    for (const act of ['cancel', 'retry', 'deleteRun'] as const) {
      await expect(durably[act](id, { ifVersion: version + 7 })).rejects.toMatchObject({
        ...{ code: 'version_mismatch', runId: id, message: expect.stringContaining(`at version ${version}, not ${version + 7}`) },
      })
    }
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', version })
    expect(await durably.cancel(id, { ifVersion: version })).toBe('cancelled')
  })

  test.each([-1, 0.5, 1e30, Number.NaN])('%s is the version of no run', async (ifVersion) => {
    const { durably } = await setup(name)
    const error = { code: 'invalid_argument', message: expect.stringContaining('ifVersion') }
    await expect(durably.cancel('x', { ifVersion })).rejects.toMatchObject(error)
    await expect(durably.retry('x', { ifVersion })).rejects.toMatchObject(error)
    await expect(durably.deleteRun('x', { ifVersion })).rejects.toMatchObject(error)
  })
})
