// The tools that a model may call: their names, what they are for, and their arguments.
import { z } from 'zod'

const path = z.string().min(1).max(512).describe('Relative to the workspace, such as notes/todo.txt')

export const TOOLS = {
  bash: {
    description: 'Run a command in a virtual shell (no network, no real files). The working directory is the workspace.',
    input: z.object({ command: z.string().min(1).max(100_000) }),
  },
  read: { description: 'Read a file of the workspace.', input: z.object({ path }) },
  write: { description: 'Create or replace a file of the workspace.', input: z.object({ path, content: z.string() }) },
  edit: {
    description: 'Replace a text in a file. The text must occur exactly once, unless replace_all is true.',
    input: z.object({ path, old_string: z.string().min(1), new_string: z.string(), replace_all: z.boolean().optional() }),
  },
  glob_search: {
    description: 'List the files that match a pattern, such as **/*.md.',
    input: z.object({ pattern: z.string().min(1).max(512) }),
  },
  grep: {
    description: 'Find lines that match a regular expression, with the names of their files.',
    input: z.object({ pattern: z.string().min(1).max(1000), path: path.optional() }),
  },
  sql: {
    description: 'Run SQL on a SQLite database that is a file of the workspace (default data.db).',
    input: z.object({ query: z.string().min(1).max(100_000), database: path.optional() }),
  },
  calculator: {
    description: 'Evaluate an arithmetic expression with + - * / % ^ and parentheses.',
    input: z.object({ expression: z.string().min(1).max(1000) }),
  },
} as const

export type ToolName = keyof typeof TOOLS

/** Tools that work on files, all through the same virtual shell. */
export type ShellTask = {
  [Name in Exclude<ToolName, 'calculator'>]: { tool: Name; args: z.infer<(typeof TOOLS)[Name]['input']> }
}[Exclude<ToolName, 'calculator'>]
