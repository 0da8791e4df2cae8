// A store that cannot take a certain value, as a database cannot: nothing of a transaction with it is there afterwards.
import { DurablyError } from '../../model/errors.ts'
import type { OwnerWrite } from '../../store/owner-write.ts'
import type { RunStore } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'

export const UNSTORABLE = 'unstorable'

export function rejecting(store: Store): Store {
  const { runs } = store
  const apply: RunStore['apply'] = async (writes) => {
    if (!writes.some(isUnstorable)) return runs.apply(writes)
    const error = new DurablyError('store_rejected', 'the store cannot take such a value')
    // It is kept with the run, and the way here is not the same line for line in a second simulation of the same seed.
    error.stack = String(error)
    throw error
  }
  return { ...store, runs: { ...runs, apply } }
}

function isUnstorable({ verb }: OwnerWrite): boolean {
  return verb.type === 'recordStep' && verb.step.output?.includes(UNSTORABLE) === true
}
