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
  /**
   * For how long this worker leaves a run alone that prefers another worker (`preferWorkerId`), from when the run is due: milliseconds, or a text
   * such as `'2s'`; at most a minute. A worker that is not in the register, is not attached or is silent is not waited for. Default `'2s'`.
   */
  preferFor?: Duration
  /**
   * With `dispatch: 'leader'`: after so long a run that its worker has not started gets another one, if that worker is gone. Default `'30s'`. The
   * setting `reassignAfter`, if somebody has set it, holds instead.
   */
  reassignAfter?: Duration
}

export interface FleetOptions {
  dispatch: 'claim' | 'leader'
  labels: Labels
  version: string | null
  reassignAfterMs: number
  preferMs: number
}

/** A run must not wait long for a worker that is there but has no room. */
const PREFER_MS_MAX = 60_000

const OPTIONS: KeysOf<ClusterOptions> = { dispatch: 1, labels: 1, version: 1, reassignAfter: 1, preferFor: 1 }

export function readClusterOptions(options: ClusterOptions): FleetOptions {
  checkKeys('cluster', options, OPTIONS)
  const { dispatch = 'claim', labels = {}, version, reassignAfter = '30s', preferFor = '2s' } = options
  if (dispatch !== 'claim' && dispatch !== 'leader')
    throw new DurablyError('invalid_argument', `dispatch must be 'claim' or 'leader', got ${JSON.stringify(dispatch)}`)
  labelsOf(labels, null)
  const preferMs = durationMs('preferFor', preferFor)
  if (preferMs > PREFER_MS_MAX)
    throw new DurablyError(
      'invalid_argument',
      `preferFor must be at most a minute, got ${JSON.stringify(preferFor)}: the run waits for so long if its worker is busy`,
    )
  return {
    dispatch,
    labels,
    version: version === undefined ? null : checkName('version', version),
    reassignAfterMs: durationMs('reassignAfter', reassignAfter),
    preferMs,
  }
}
