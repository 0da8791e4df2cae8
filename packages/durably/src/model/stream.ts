// Stream — the output of a step while it comes: what the run's row keeps of an open one. How it adds up: model/chunks.ts.

/** A stream that was begun and not recorded. */
export interface OpenStream {
  stepName: string
  /** How much of it stays when another attempt takes over. */
  kept: number
  /** The checkpoint, encoded; `null` when there was none. */
  state: string | null
}

/** Rows of `[payload of the reset, state]`: a claim copies the first into the event log without knowing what it says. */
export function encodeStreams(streams: Iterable<OpenStream>): string {
  return JSON.stringify(Array.from(streams, ({ stepName, kept, state }) => [JSON.stringify({ stepName, to: kept }), state]))
}

export function decodeStreams(encoded: string | null): OpenStream[] {
  if (encoded === null) return []
  const rows = JSON.parse(encoded) as [string, string | null][]
  return rows.map(([reset, state]) => {
    const { stepName, to } = JSON.parse(reset) as { stepName: string; to: number }
    return { stepName, kept: to, state }
  })
}
