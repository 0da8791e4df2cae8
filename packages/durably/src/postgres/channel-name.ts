import { createHash } from 'node:crypto'

const BYTES_MAX = 63

/** The channel under a name that Postgres takes: LISTEN would cut a longer one off, and pg_notify refuses it. */
export function channelName(channel: string): string {
  if (Buffer.byteLength(channel) <= BYTES_MAX) return channel
  return `durably_${createHash('sha256').update(channel).digest('hex').slice(0, 32)}`
}
