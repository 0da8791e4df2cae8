// A mutant: the engine without one of its guards. It is a patch of the source, applied in a build of its own; a patch that does not match
// exactly once is an error.
import type { SimStore } from '../sim-seeds.ts'

export interface Patch {
  file: string
  find: string
  replace: string
}

export interface Mutant extends Patch {
  name: string
  /** The guard that the patch removes, as a sentence. */
  guard: string
  /** Further patches, where one place is not enough. */
  also?: Patch[]
  /** The store of the simulated worlds that find it; memory unless given. */
  store?: SimStore
}
