/** A name for this process that people recognise: its host and its number, where there are such, and a text that is new with each start. */
export function workerName(id: string): string {
  const { process } = globalThis
  const host = process?.getBuiltinModule?.('node:os')?.hostname()
  return [host, process?.pid, id.slice(-6).toLowerCase()].filter(Boolean).join('/')
}
