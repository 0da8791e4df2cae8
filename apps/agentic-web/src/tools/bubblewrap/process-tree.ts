// What a process and all that came from it use, seen from outside. Of Linux.
import { readdir, readFile, statfs } from 'node:fs/promises'

/** Of one machine; 4 KiB on all that run this in practice, and more only makes the limit stricter. */
const PAGE_BYTES = 4096

/** A process that ends meanwhile counts nothing. */
export async function treeOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')))
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
  return [pid, ...(await Promise.all(children.map(treeOf))).flat()]
}

export async function residentBytes(pids: readonly number[]): Promise<number> {
  const pages = await Promise.all(
    pids.map(async (pid) => Number((await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '0 0')).split(' ')[1])),
  )
  return pages.reduce((sum, n) => sum + n, 0) * PAGE_BYTES
}

/**
 * How many files and folders there are in a file system of this size that a process sees; 0 if that cannot be known. While bubblewrap begins, a process
 * still sees the folders of the machine, which have other sizes.
 */
export async function filesSeenBy(pid: number, folder: string, bytes: number): Promise<number> {
  const seen = await statfs(`/proc/${pid}/root${folder}`).catch(() => undefined)
  return seen && seen.blocks * seen.bsize === bytes ? seen.files - seen.ffree : 0
}
