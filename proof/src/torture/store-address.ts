// How a process of the torture reaches the database.
import type { Dialect } from 'kysely'
import type { WorkerEngine } from './engine-bundle.ts'

export type StoreAddress =
  | { kind: 'sqlite'; file: string; durability: 'full' | 'relaxed' }
  | { kind: 'postgres'; url: string; queryTimeout: number }

export function dialectOf({ sqlite, postgres }: Pick<WorkerEngine, 'sqlite' | 'postgres'>, address: StoreAddress): Dialect {
  switch (address.kind) {
    case 'sqlite':
      return sqlite(address.file, { durability: address.durability })
    case 'postgres':
      return postgres(address.url, { queryTimeout: address.queryTimeout })
  }
}
