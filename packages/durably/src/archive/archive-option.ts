import type { Duration } from '../model/duration.ts'
import type { ArchiveFiles } from './archive-files.ts'

/** Which histories are moved out of the database, and where to. */
export interface ArchiveOption {
  /** Where the files are kept: `folder('./archive')` of `@coji/durably/archive-folder`, or a store of your own. */
  files: ArchiveFiles
  /** How long ago a run must have ended, for example `'30d'`. The setting `archiveAfter`, if somebody has set it, holds instead. */
  after: Duration
}

export interface ArchiveRule {
  files: ArchiveFiles
  afterMs: number
}
