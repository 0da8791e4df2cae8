// Values that cannot be stored.
import type { Misfit } from './planned-run.ts'
import { UNSTORABLE } from './rejecting-store.ts'

/** Far more than the values of a simulated world need. */
export const VALUE_BYTES_MAX = 200_000

export function misfitOf(kind: Misfit): unknown {
  switch (kind) {
    case 'rejected':
      return UNSTORABLE
    case 'instance':
      return new Instance()
    case 'function':
      return misfitOf
    case 'too large':
      return 'x'.repeat(VALUE_BYTES_MAX)
  }
}

class Instance {}
