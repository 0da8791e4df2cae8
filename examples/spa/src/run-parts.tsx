// Small parts that the list and the details share.
import type { Run } from '@coji/durably'

export function ProgressBar({ run: { status, progress } }: { run: Run }) {
  const { current = 0, total = 1 } = status === 'completed' ? { current: 1 } : (progress ?? {})
  return <progress className={status} value={current} max={total} />
}

export function fileNameOf(run: Run): string {
  return (run.payload as { fileName: string }).fileName
}

export function timeOf(iso: string): string {
  return new Date(iso).toLocaleTimeString()
}
