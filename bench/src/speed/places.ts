// Places — makes an empty store for each measurement, and removes it. Stores with ended runs in them are filled once and copied.
//   P1. All of them are under bench/.tmp, so on the disk of the repository: a directory for temporary files may be in memory.
import { constants, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type PostgresServer, startPostgres } from '../../../proof/dist/postgres/server.js'
import { finishedRuns } from './finished-runs.ts'
import type { Place, PlaceKind } from './place.ts'
import { type RedisServer, startRedis } from './redis.ts'

const DISK = fileURLToPath(new URL('../../.tmp/', import.meta.url))

/** As a server has them that is to keep what it has acknowledged. */
const SERVER_SETTINGS = { fsync: 'on', full_page_writes: 'on', autovacuum: 'on', shared_buffers: '128MB', max_wal_size: '4GB' }

export interface OpenPlace {
  place: Place
  remove(): Promise<void>
}

export class Places {
  readonly #directory: string
  readonly #filled = new Map<string, Promise<Place>>()
  #postgres: Promise<PostgresServer> | undefined
  #redis: Promise<RedisServer> | undefined
  #count = 0

  constructor() {
    mkdirSync(DISK, { recursive: true })
    this.#directory = mkdtempSync(join(DISK, 'speed-'))
    process.env.TMPDIR = this.#directory
  }

  async open(kind: PlaceKind | 'redis', finished = 0): Promise<OpenPlace> {
    const filled = finished > 0 ? await this.#fill(kind, finished) : undefined
    if (kind === 'memory') return { place: { kind: 'memory' }, remove: async () => {} }
    if (kind === 'redis') return this.#redisPlace()
    return kind === 'postgres' ? this.#database(filled) : this.#file(kind === 'sqlite-full' ? 'FULL' : 'NORMAL', filled)
  }

  async postgresVersion(): Promise<string> {
    const [row] = await this.#onServer<{ server_version: string }>('SHOW server_version')
    return row?.server_version ?? ''
  }

  async close(): Promise<void> {
    await (await this.#postgres)?.stop()
    await (await this.#redis?.catch(() => undefined))?.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #fill(kind: PlaceKind | 'redis', finished: number): Promise<Place> {
    const key = `${kind} ${finished}`
    const filled = this.#filled.get(key) ?? this.open(kind).then(({ place }) => finishedRuns(place, finished))
    this.#filled.set(key, filled)
    return filled
  }

  #file(synchronous: 'NORMAL' | 'FULL', filled: Place | undefined): OpenPlace {
    const directory = mkdtempSync(join(this.#directory, 'sqlite-'))
    const file = join(directory, 'bench.db')
    if (filled?.kind === 'sqlite') copyFileSync(filled.file, file, constants.COPYFILE_FICLONE)
    return { place: { kind: 'sqlite', file, synchronous }, remove: async () => rmSync(directory, { recursive: true, force: true }) }
  }

  async #database(filled: Place | undefined): Promise<OpenPlace> {
    const name = `bench_${this.#count++}`
    const template = filled?.kind === 'postgres' ? new URL(filled.url).pathname.slice(1) : 'template0'
    await this.#onServer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
    // No measurement pays for the pages that the one before it has left to be written.
    await this.#onServer('CHECKPOINT')
    const url = new URL((await this.#server()).url)
    url.pathname = `/${name}`
    return {
      place: { kind: 'postgres', url: url.href },
      remove: async () => void (await this.#onServer(`DROP DATABASE ${name} WITH (FORCE)`)),
    }
  }

  async #redisPlace(): Promise<OpenPlace> {
    this.#redis ??= startRedis(mkdtempSync(join(this.#directory, 'redis-')))
    const { port, empty } = await this.#redis
    return { place: { kind: 'redis', port }, remove: empty }
  }

  #server(): Promise<PostgresServer> {
    this.#postgres ??= startPostgres({ own: true, settings: SERVER_SETTINGS })
    return this.#postgres
  }

  async #onServer<T>(sql: string): Promise<T[]> {
    const client = new pg.Client((await this.#server()).url)
    await client.connect()
    try {
      return (await client.query(sql)).rows as T[]
    } finally {
      await client.end()
    }
  }
}
