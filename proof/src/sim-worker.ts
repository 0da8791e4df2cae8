// A child process that answers one task after the other. It goes when its parent has had enough: one that ends by itself has failed.
import { type SeedsTask, simulateSeeds } from './sim-seeds.ts'

process.on('message', async (task: SeedsTask) => process.send?.(await simulateSeeds(task)))
