// Why a run failed whose worker was lost.
export const DEADLINE_ERROR = 'its deadline was over when its worker was lost'

export function crashLoopError(maxRecoveries: number): string {
  return `its worker was lost ${maxRecoveries + 1} times in a row without a newly recorded step`
}
