/**
 * Takes the event logs and the log lines of ended runs out of the store once they are in files. Each method is one transaction, and may be
 * called again with the same arguments if its outcome is unknown. Several processes may do so at once.
 */
export interface ArchiveStore {
  /** The ids of runs that have events or log lines in the store, in their order. */
  candidates(page: CandidatePage): Promise<string[]>
  /**
   * Says of those of these runs that ended so long ago that files of them may exist from now on, and returns them by id. A failed run with an
   * open stream is left out: if it is retried, it reads its events.
   */
  begin(runIds: readonly string[], olderThanMs: number): Promise<ArchivableRun[]>
  /** Removes what is in a file, and notes the file in the run. Refused if the run was changed since `begin`. */
  move(move: ArchiveMove): Promise<MoveOutcome>
  /** Runs that files of may exist, and that were deleted. */
  removed(limit: number): Promise<string[]>
  /** The files of these deleted runs are gone. */
  forget(runIds: readonly string[]): Promise<void>
}

/** Which candidates are listed. */
export interface CandidatePage {
  /** Only greater ids. */
  after: string
  /** Only smaller ids. */
  before: string
  /** How many at most. */
  limit: number
}

/** A run whose history can be moved. */
export interface ArchivableRun {
  /** The id of the run. */
  id: string
  /** Its version: if it changes, the run was retried. */
  version: number
  /** The files that hold the beginning of its history, oldest first, separated by spaces; empty if there is none yet. */
  logRef: string
}

/** What is in a new file of a run. */
export interface ArchiveMove {
  /** The id of the run. */
  runId: string
  /** The version that the run must still have. */
  version: number
  /** The files that it must still have. */
  logRef: string
  /** The files that it has then. */
  nextRef: string
  /** The `seq` of the first event in the new file. */
  firstSeq: number
  /** The `seq` of the last event in the new file; smaller than the first one if it has none. */
  lastSeq: number
  /** The ids of the log lines in the new file. */
  lineIds: readonly string[]
}

/** `moved`: the rows are gone, and the run names the file. `changed`: nothing was done. `gone`: there is no such run. */
export type MoveOutcome = 'moved' | 'changed' | 'gone'
