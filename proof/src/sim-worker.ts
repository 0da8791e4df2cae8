// A child process that answers one task. It goes when its parent has the answer: one that ends by itself has not answered.
import { type SeedsTask, simulateSeeds } from './sim-seeds.ts'

process.on('message', async (task: SeedsTask) => process.send?.(await simulateSeeds(task)))
