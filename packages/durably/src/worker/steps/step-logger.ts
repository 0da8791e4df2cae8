import type { Emitter } from '../../events/emitter.ts'
import type { Logger } from '../../model/job.ts'
import type { LogLevel } from '../../model/log.ts'

export function stepLogger(emitter: Emitter, runId: string, stepName: () => string | null): Logger {
  const write = (level: LogLevel) => (message: string, data?: unknown) =>
    emitter.emit({ type: 'log:write', runId, stepName: stepName(), level, message: String(message), data })
  return { info: write('info'), warn: write('warn'), error: write('error') }
}
