import type { RunRow } from '../../../model/run.ts'
import type { Delivery, DeliveryOutcome } from '../../cluster/inbox.ts'
import { inOrder } from './fire.ts'
import type { Row } from './session.ts'

/** `isMoved`: it was delivered now. `state`: the event as it is, or was left, with the leader's epoch as `epoch`. */
export function deliveryOutcome(
  { epoch, runs }: Delivery,
  isMoved: boolean,
  state: Row | undefined,
  found: readonly RunRow[],
): DeliveryOutcome {
  const isSentAgain = state?.processed_at != null && Number(state.leader_epoch) === epoch
  if (isMoved || isSentAgain) return { outcome: 'delivered', runs: inOrder(runs, found) }
  return { outcome: state?.epoch != null && Number(state.epoch) === epoch ? 'changed' : 'deposed' }
}
