// The stores against the model, and against each other. How to replay a failure: play.ts.
import { describe, expect, it } from 'vitest'
import { COMMANDS_MAX } from './commands.ts'
import { CELLS } from './matrix.ts'
import { coversAll, playOn, playOnAll, SEQUENCES, sequencesOf } from './play.ts'
import { STORES } from './stores.ts'

/** Far more than it takes on two busy cores; shrinking a failure takes many runs. */
const timeout = 300_000 * Math.max(1, SEQUENCES / 1000)

for (const store of STORES) {
  const { name, missing } = store
  const sequences = sequencesOf(store)
  describe.skipIf(missing)(missing ? `${name} (skipped: ${missing})` : name, () => {
    it(`does what the model does, in ${sequences} sequences of up to ${COMMANDS_MAX} commands`, { timeout }, async () => {
      const { commands, seconds, matrix } = await playOn(store)
      const missed = matrix.missing()
      const cells = `${CELLS.length - missed.length} of ${CELLS.length} cells`
      console.info(`model: ${name}: ${sequences} sequences, ${commands} commands, ${cells}, ${seconds.toFixed(1)} s`)
      if (coversAll(sequences)) expect(missed, 'cells of status × transition').toEqual([])
    })
  })
}

describe('every store', () => {
  const present = STORES.filter(({ missing }) => missing === null)
  const sequences = Math.ceil(SEQUENCES / 5)

  it(`has the same history after the same commands, in ${sequences} sequences`, { timeout }, async () => {
    await playOnAll(present, sequences, (name, history, first) => {
      expect(history, `${name} against ${present[0]?.name}`).toEqual(first)
    })
  })
})
