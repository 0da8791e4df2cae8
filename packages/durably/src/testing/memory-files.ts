import type { ArchiveFiles } from '../archive/archive-files.ts'

/** The files of an archive in memory. */
export class MemoryFiles implements ArchiveFiles {
  readonly files = new Map<string, Uint8Array>()

  async write(name: string, bytes: Uint8Array): Promise<void> {
    this.files.set(name, bytes.slice())
  }

  async read(name: string): Promise<Uint8Array | null> {
    return this.files.get(name)?.slice() ?? null
  }

  async remove(prefix: string): Promise<void> {
    for (const name of this.files.keys()) if (name.startsWith(prefix)) this.files.delete(name)
  }
}
