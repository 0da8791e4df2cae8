// What a worker sees of a process from outside.
import { statfsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { filesSeenBy, residentBytes, treeOf } from '../dist/tools/bubblewrap/process-tree.js'

test('files are counted only in a file system of the size that a sandbox has', async () => {
  const { blocks, bsize, files, ffree } = statfsSync('/tmp')
  expect(await filesSeenBy(process.pid, '/tmp', 32 * 1024 * 1024)).toBe(0)
  // Others use it, too.
  if (files > 0) expect(Math.abs((await filesSeenBy(process.pid, '/tmp', blocks * bsize)) - (files - ffree))).toBeLessThan(10_000)
  expect(await filesSeenBy(process.pid, '/nowhere', 1)).toBe(0)
})

test('memory is that of the process and of all that came from it', async () => {
  const tree = await treeOf(process.pid)
  expect(tree[0]).toBe(process.pid)
  expect(await residentBytes(tree)).toBeGreaterThan(20 * 1024 * 1024)
  expect(await residentBytes([2 ** 30])).toBe(0)
})
