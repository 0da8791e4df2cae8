// Stores the log line of an event: attached to the next write of a run that executes here, otherwise by the LogLineWriter.
import type { LazyLogLines } from '../events/lazy-log-lines.ts'
import type { LogLine } from '../events/log-line.ts'
import type { Codec } from '../model/codec.ts'
import type { Env } from '../model/env.ts'
import type { DurablyEvent } from '../model/event.ts'
import type { LogRow } from '../model/log.ts'
import type { Execution } from './execution.ts'

interface PersistEventDeps {
  /** Knows what this process executes. */
  worker: { execution(runId: string): Execution | undefined }
  logLines: LazyLogLines
  codec: Codec
  env: Env
}

export function persistEvent({ worker, logLines, codec, env }: PersistEventDeps, event: DurablyEvent, line: LogLine): void {
  const row: LogRow = { id: env.id(), ...line, data: encodeData(codec, line.data) }
  const execution = worker.execution(line.runId)
  if (!execution || execution.owner.sealed) return logLines.append(row)
  execution.owner.attachments.addLog(row)
  // Other events are in the event log themselves; for a log line the event log has a reference to its row.
  if (event.type === 'log:write') execution.attach('log:write', { generation: execution.generation, logId: row.id })
  execution.heartbeat.carrySoon()
}

/** A line whose data cannot be encoded is stored without it. */
function encodeData(codec: Codec, data: unknown): string | null {
  try {
    return codec.encode(data, 'log data')
  } catch (error) {
    return codec.encode({ notStored: String(error) }, 'log data')
  }
}
