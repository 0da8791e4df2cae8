// A mutant: a guard of this engine, taken out. It is a patch of the source, applied when a build of its own is made; one that does not
// match exactly once is an error.
import type { SimStore } from '../sim-seeds.ts'

export interface Patch {
  file: string
  find: string
  replace: string
}

export interface Mutant extends Patch {
  name: string
  /** What is taken out, in words. */
  guard: string
  /** Where one place is not enough. */
  also?: Patch[]
  /** The store whose worlds show it; memory unless given. */
  store?: SimStore
}
