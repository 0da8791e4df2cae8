// What a worker and its tool thread say to each other.
import type { BashOptions } from 'just-bash'
import { type FileChange, WORKSPACE_BYTES_MAX } from '../db/files.ts'
import type { ShellTask } from './definitions.ts'

export interface ShellRequest {
  files: ReadonlyMap<string, Uint8Array>
  task: ShellTask
  timeoutMs: number
}

export interface ShellAnswer {
  content: string
  isError: boolean
  changes: FileChange[]
}

const MIB = 1024 * 1024

/** The shell stops by itself; the parent ends the thread only if it does not. */
export function executionLimits(timeoutMs: number): NonNullable<BashOptions['executionLimits']> {
  return {
    maxExecutionTimeMs: timeoutMs,
    maxSqliteTimeoutMs: timeoutMs,
    maxOutputSize: 8 * MIB,
    maxStringLength: 8 * MIB,
    maxLiveBytes: 64 * MIB,
    maxFileSystemBytes: 2 * WORKSPACE_BYTES_MAX,
    maxDatabaseBytes: WORKSPACE_BYTES_MAX,
    maxArchiveBytes: WORKSPACE_BYTES_MAX,
  }
}
