/** One of the six colours of workers, the same for the same name. */
export function workerColour(workerId: string | null): string {
  let hash = 0
  for (const char of workerId ?? '') hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0
  return `worker-${hash % 6}`
}
