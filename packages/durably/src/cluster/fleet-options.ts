// What `cluster()` is given, checked.
import { type Duration, durationMs } from '../model/duration.ts'
import { DurablyError } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { type Labels, labelsOf } from '../model/labels.ts'
import { checkName } from '../model/name.ts'

/** The options of `cluster()`. */
export interface ClusterOptions {
  /**
   * `claim`: each worker takes runs by itself. `leader`: one elected process chooses the worker of each run, by capacity, labels and jobs, and a
   * worker starts only what was chosen for it. Default `claim`.
   */
  dispatch?: 'claim' | 'leader'
  /** What this worker is: a job with `runsOn` is executed only by workers that have those labels. Default none. */
  labels?: Labels
  /** The version of your code, for people. Default none. */
  version?: string
  /** With `dispatch: 'leader'`: after so long a run that its worker has not started gets another one, if that worker is gone. Default `'30s'`. */
  reassignAfter?: Duration
}

export interface FleetOptions {
  dispatch: 'claim' | 'leader'
  labels: Labels
  version: string | null
  reassignAfterMs: number
}

const OPTIONS: KeysOf<ClusterOptions> = { dispatch: 1, labels: 1, version: 1, reassignAfter: 1 }

export function readClusterOptions(options: ClusterOptions): FleetOptions {
  checkKeys('cluster', options, OPTIONS)
  const { dispatch = 'claim', labels = {}, version, reassignAfter = '30s' } = options
  if (dispatch !== 'claim' && dispatch !== 'leader')
    throw new DurablyError('invalid_argument', `dispatch must be 'claim' or 'leader', got ${JSON.stringify(dispatch)}`)
  labelsOf(labels, null)
  return {
    dispatch,
    labels,
    version: version === undefined ? null : checkName('version', version),
    reassignAfterMs: durationMs('reassignAfter', reassignAfter),
  }
}
