// What the server of `durably dev` and its worker process tell each other.
import type { StandardSchemaV1 } from '@standard-schema/spec'

export type ToWorker =
  | { type: 'validate'; id: number; jobName: string; value: unknown }
  | { type: 'pause'; isPaused: boolean }
  | { type: 'slow'; isSlow: boolean }
  /** Give the runs back and end. */
  | { type: 'stop' }

export type FromWorker =
  | { type: 'ready'; jobs: DevJob[]; failures: FileFailure[] }
  | { type: 'validated'; id: number; result: StandardSchemaV1.Result<unknown> }

export interface DevJob {
  name: string
  /** The JSON Schema of its input; null if its library has none. */
  inputSchema: Record<string, unknown> | null
  file: string
}

export interface FileFailure {
  file: string
  message: string
}
