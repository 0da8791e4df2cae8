// One line about what a tool was asked for, and one about what it returned.
import type { ToolResult } from '../state/run-log.ts'
import { count } from './words.ts'

const MAIN_ARGUMENT: Readonly<Record<string, string>> = {
  bash: 'command',
  read: 'path',
  write: 'path',
  edit: 'path',
  glob_search: 'pattern',
  grep: 'pattern',
  sql: 'query',
  calculator: 'expression',
}

export function argument(args: unknown, name: string): string | undefined {
  if (typeof args !== 'object' || args === null) return undefined
  const value = (args as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : undefined
}

export function askedFor(tool: string, args: unknown): string {
  const main = argument(args, MAIN_ARGUMENT[tool] ?? '')
  return (main ?? (typeof args === 'string' ? args : JSON.stringify(args))).replace(/\s+/g, ' ').slice(0, 160)
}

export function returned({ content, is_error, truncated }: ToolResult): string {
  const lines = content.trimEnd() === '' ? 0 : content.trimEnd().split('\n').length
  if (lines === 0) return is_error ? 'failed' : 'nothing'
  if (lines === 1) return content.trim().slice(0, 80)
  return `${is_error ? 'failed, ' : ''}${count(lines, 'line')}${truncated ? ' and more' : ''}`
}
