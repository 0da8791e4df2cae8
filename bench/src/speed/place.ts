// Place — an empty store for one measurement.

export type Place =
  | { kind: 'sqlite'; file: string; synchronous: 'NORMAL' | 'FULL' }
  | { kind: 'postgres'; url: string }
  | { kind: 'redis'; port: number }
  | { kind: 'memory' }

export type PlaceKind = 'sqlite-normal' | 'sqlite-full' | 'postgres' | 'memory'

/** What a machine that loses its power keeps. */
export const DURABILITY: Record<PlaceKind, string> = {
  'sqlite-normal': 'WAL, synchronous NORMAL',
  'sqlite-full': 'WAL, synchronous FULL',
  postgres: 'fsync on, synchronous_commit on',
  memory: 'nothing survives the process',
}

export function onSqlite(place: Place): Extract<Place, { kind: 'sqlite' }> {
  if (place.kind !== 'sqlite') throw new Error(`needs SQLite, got ${place.kind}`)
  return place
}

export function onPostgres(place: Place): Extract<Place, { kind: 'postgres' }> {
  if (place.kind !== 'postgres') throw new Error(`needs Postgres, got ${place.kind}`)
  return place
}
