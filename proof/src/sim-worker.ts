// A child process that takes one task and answers it.
import { type SeedsTask, simulateSeeds } from './sim-seeds.ts'

process.once('message', async (task: SeedsTask) => {
  const result = await simulateSeeds(task)
  process.send?.(result, () => process.disconnect())
})
