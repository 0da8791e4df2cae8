/**
 * Where the files of an archive are kept: `folder` of `@coji/durably/archive-folder`, or a store of your own, for example a bucket. Names
 * consist of letters, digits, `-`, `_`, `.` and `/`. A file of one name always has the same content.
 */
export interface ArchiveFiles {
  /** Stores a file. It resolves when the file is complete and survives a crash: the rows in the database are deleted next. */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** Reads a file; null if there is none of that name. */
  read(name: string): Promise<Uint8Array | null>
  /** Removes every file whose name begins with this prefix, which ends with `/`. It is no error if there is none. */
  remove(prefix: string): Promise<void>
}
