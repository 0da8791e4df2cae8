// The tools that a model may call: their names, what they are for, and their arguments.
import { z } from 'zod'

const path = z.string().min(1).max(512).describe('Relative to the workspace, such as notes/todo.txt')

export const TOOLS = {
  bash: {
    description: 'Run a shell command, without network. The working directory is the workspace; only its files are kept.',
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
  notify: {
    description: 'Send a message to the people who run this app. It is sent at once, and cannot be taken back.',
    input: z.object({ text: z.string().min(1).max(4000) }),
  },
} as const

export type ToolName = keyof typeof TOOLS

/** Tools that need no sandbox: they neither read files nor run what the model wrote. */
type ToolOutside = 'calculator' | 'notify'

/** Tools that work on files, all through the same sandbox. */
export type ShellTask = {
  [Name in Exclude<ToolName, ToolOutside>]: { tool: Name; args: z.infer<(typeof TOOLS)[Name]['input']> }
}[Exclude<ToolName, ToolOutside>]

/** What they do cannot be undone, and they must not do it twice. All others change nothing but what their recorded result says. */
const ACTS_OUTSIDE: ReadonlySet<string> = new Set<ToolName>(['notify'])

export function actsOutside(tool: string): boolean {
  return ACTS_OUTSIDE.has(tool)
}

export function isTool(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name)
}
