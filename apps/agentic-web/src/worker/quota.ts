import { bytesOf } from '../db/files.ts'
import type { AppDatabase } from '../db/tables.ts'
import type { ToolOutcome } from '../tools/run-tool.ts'

/**
 * A tool that would store more than the user may is told so, and changes nothing. Files that are replaced count twice while they are. Tools of several sessions that end at the
 * same moment may go beyond the limit together, each by the little that one call may change.
 */
export async function withinQuota(db: AppDatabase, userId: string, outcome: ToolOutcome, max: number): Promise<ToolOutcome> {
  const more = outcome.changes.reduce((sum, { content }) => sum + (content === null ? 0 : Buffer.byteLength(content, 'base64')), 0)
  if (more === 0 || max === Number.POSITIVE_INFINITY) return outcome
  const bytes = await bytesOf(db, userId)
  if (bytes + more <= max) return outcome
  const { violation } = outcome
  return { content: exceeded(bytes, more, max), isError: true, truncated: false, changes: [], ...(violation && { violation }) }
}

/** A long output of a tool, or why it was not kept. */
export async function withinQuotaText(db: AppDatabase, userId: string, text: string, max: number): Promise<string> {
  if (max === Number.POSITIVE_INFINITY) return text
  const [bytes, more] = [await bytesOf(db, userId), Buffer.byteLength(text)]
  return bytes + more <= max ? text : exceeded(bytes, more, max)
}

function exceeded(bytes: number, more: number, max: number): string {
  return `quota_exceeded: your sessions have ${bytes} bytes of files, this would add ${more}, and the limit is ${max}. Remove files, or delete sessions.`
}
