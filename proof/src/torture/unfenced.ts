// The control: an engine whose owners are not fenced. A torture that it survives proves nothing.
import { buildMutant } from '../mutant-build.ts'
import { UNFENCED } from './races.ts'
import { type Tortured, type TortureOptions, torture } from './torture.ts'

/** Ends when it is caught. */
export async function tortureUnfenced(options: Omit<TortureOptions, 'dist' | 'untilCaught'>): Promise<Tortured> {
  const { dist, remove } = await buildMutant(UNFENCED)
  process.once('exit', remove)
  try {
    const { violations, ...rest } = await torture({ ...options, dist, untilCaught: true })
    // A worker in trouble is no work of a missing fence.
    return { ...rest, violations: violations.filter(({ invariant }) => invariant !== 'process') }
  } finally {
    remove()
    process.off('exit', remove)
  }
}
