// What an isolated process sees of the machine: programs and libraries, read-only, this program's tools, and two small file systems in memory.
import { lstatSync, readlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { WORKSPACE_BYTES_MAX } from '../inside/workspace-limits.ts'

/** Only what is inside of this folder may import nothing from outside of it. */
const TOOLS = fileURLToPath(new URL('../inside', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../../../package.json', import.meta.url))

/** The whole of the root is read-only, but these two. */
export const DISK_BYTES = 2 * WORKSPACE_BYTES_MAX
const SIZE = ['--size', String(DISK_BYTES)]

export const PROGRAM = ['/app/node', '--no-warnings', '--max-old-space-size=256', '/app/tools/process.js']

export function mounts(): string[] {
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...['/bin', '/sbin', '/lib', '/lib32', '/lib64'].flatMap(likeHere),
    // Without these some programs of /usr are not found: they say where `awk` is, and where libraries are.
    ...['--ro-bind-try', '/etc/alternatives', '/etc/alternatives', '--ro-bind-try', '/etc/ld.so.cache', '/etc/ld.so.cache'],
    ...['--proc', '/proc', '--dev', '/dev', '--remount-ro', '/dev'],
    ...['--ro-bind', process.execPath, '/app/node', '--ro-bind', PACKAGE, '/app/package.json'],
    ...['--ro-bind', TOOLS, '/app/tools', '--ro-bind', modules(), '/app/node_modules'],
    ...[...SIZE, '--tmpfs', '/workspace', ...SIZE, '--tmpfs', '/tmp'],
    ...['--remount-ro', '/', '--chdir', '/workspace'],
  ]
}

/** On most systems these are links into /usr. */
function likeHere(path: string): string[] {
  const here = lstatSync(path, { throwIfNoEntry: false })
  if (!here) return []
  return here.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}

/** The folder of packages that has the virtual shell, and with it all that it needs. */
function modules(): string {
  const entry = fileURLToPath(import.meta.resolve('just-bash'))
  return entry.slice(0, entry.lastIndexOf('/node_modules/just-bash/') + '/node_modules'.length)
}
