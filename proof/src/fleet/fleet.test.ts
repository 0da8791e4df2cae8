import { expect, it } from 'vitest'
import { accept, SCENARIOS } from './accept.ts'

it('a fleet that is killed, frozen, cut and stopped loses nothing', { timeout: 300_000 }, async () => {
  const played = await accept({ isShort: true })
  expect(played.flatMap(({ scenario, error }) => (error === null ? [] : [{ scenario, error }]))).toEqual([])
  expect(played).toHaveLength(SCENARIOS.length)
})
