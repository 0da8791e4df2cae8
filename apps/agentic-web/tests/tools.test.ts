// The virtual shell in its thread: what tools can do, and what they cannot.
import { expect, test } from 'vitest'
import { runTool } from '../dist/tools/run-tool.js'
import { readToolConfig } from '../dist/tools/tool-config.js'
import { VirtualSandbox } from '../dist/tools/virtual/virtual-sandbox.js'

const limits = { toolMs: 15_000, toolOutputBytes: 1000 }

const store = async (text: string) => ({ id: text.slice(-5).trim(), bytes: text.length })

async function use(tool: string, args: unknown, files: Record<string, string> = {}, signal = new AbortController().signal) {
  const workspace = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]))
  const { offered, notifyUrl } = readToolConfig({}, false)
  const deps = { sandbox: new VirtualSandbox(), offered, notifyUrl, idempotencyKey: 'k', limits, allowCrash: false, store, signal }
  const outcome = await runTool({ tool, args }, { ...deps, loadWorkspace: async () => workspace })
  const changes = outcome.changes.map(({ path, content }) => [path, content === null ? null : Buffer.from(content, 'base64').toString()])
  return { ...outcome, changes: Object.fromEntries(changes) }
}

test.concurrent.each([
  ['write', { path: 'a/b.txt', content: 'hi' }, {}, 'Wrote 2 bytes', { 'a/b.txt': 'hi' }],
  ['edit', { path: 'a.txt', old_string: 'tea', new_string: 'milk' }, { 'a.txt': 'buy tea' }, 'Replaced 1', { 'a.txt': 'buy milk' }],
  ['glob_search', { pattern: '**/*.md' }, { 'x.md': '', 'd/y.md': '', 'z.txt': '' }, 'd/y.md\nx.md', {}],
  ['grep', { pattern: 'b.y' }, { 'a.txt': 'buy tea\nno' }, 'a.txt:1:buy tea', {}],
  ['bash', { command: 'sort a.txt > b.txt; rm a.txt' }, { 'a.txt': '2\n1\n' }, '', { 'a.txt': null, 'b.txt': '1\n2\n' }],
])('%s', async (tool, args, files, content, changes) => {
  const outcome = await use(tool, args, files)
  expect(outcome).toMatchObject({ isError: false, content: expect.stringContaining(content) })
  expect(outcome.changes).toEqual(changes)
})

test.concurrent.each([
  ['an edit of a text that occurs twice', 'edit', { path: 'a.txt', old_string: 'a', new_string: 'b' }, 'occurs 2 times'],
  ['a file outside', 'read', { path: '../../etc/passwd' }, 'outside of the workspace'],
  ['a loop without end', 'bash', { command: 'while true; do :; done' }, 'exit code 126'],
  ['a file that is too large', 'bash', { command: 'printf "%5000000s" x > big' }, 'limit'],
])('%s is refused, and no file changes', async (_, tool, args, words) => {
  const outcome = await use(tool, args, { 'a.txt': 'a a' })
  expect(outcome).toMatchObject({ isError: true, content: expect.stringContaining(words), changes: {} })
})

test.concurrent('neither the environment nor the files of the machine are there', async () => {
  const { content } = await use('bash', { command: 'env; cat /proc/self/environ /etc/passwd; ls /' })
  expect(content).not.toMatch(/DATABASE_URL|root:|VITEST|node_modules/)
})

test.concurrent('output that is too long is cut, and kept whole', async () => {
  const { content, truncated, artifact } = await use('bash', { command: 'seq 1000' })
  expect(truncated).toBe(true)
  expect(artifact).toEqual({ id: '1000', bytes: 3893 })
  expect(content).toMatch(/\n… \(3893 bytes in all\)$/)
})

test.concurrent('a tool that is not wanted any more ends at once', async () => {
  const stop = new AbortController()
  const using = use('bash', { command: 'sleep 100' }, {}, stop.signal)
  stop.abort(new Error('stopped'))
  await expect(using).rejects.toThrow('stopped')
})
