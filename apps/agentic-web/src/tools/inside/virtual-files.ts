// The files of a session in the file system of the virtual shell.
import type { IFileSystem } from 'just-bash'

export const WORKSPACE = '/workspace'

export async function placeFiles(fs: IFileSystem, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  await fs.mkdir(WORKSPACE, { recursive: true })
  for (const [path, content] of files) {
    const full = `${WORKSPACE}/${path}`
    await fs.mkdir(full.slice(0, full.lastIndexOf('/')), { recursive: true })
    await fs.writeFile(full, content)
  }
}

/** Only plain files: a link or an empty directory does not outlive the call. */
export async function readFiles(fs: IFileSystem): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  for (const full of fs.getAllPaths()) {
    if (!full.startsWith(`${WORKSPACE}/`) || !(await fs.lstat(full)).isFile) continue
    files.set(full.slice(WORKSPACE.length + 1), await fs.readFileBuffer(full))
  }
  return files
}
