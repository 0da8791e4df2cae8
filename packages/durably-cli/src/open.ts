// Opens the database of a command, without a worker, and closes it whatever happens.
import { createDurably, type Durably, type DurablyOptions, systemEnv } from '@coji/durably'
import type { Given } from './given.ts'
import type { Io } from './output/io.ts'
import { checkExists, dialectOf, type Place, placeOf } from './place.ts'

export function openDurably(place: Place, options: Omit<DurablyOptions, 'dialect' | 'tablePrefix'> = {}): Durably {
  const { tablePrefix, now } = place
  return createDurably({
    dialect: dialectOf(place),
    env: systemEnv(now),
    logger: false,
    ...(tablePrefix !== undefined && { tablePrefix }),
    ...options,
  })
}

export async function withDurably<T>(given: Given, io: Io, use: (durably: Durably, place: Place) => Promise<T>): Promise<T> {
  const place = placeOf(given, io)
  checkExists(place)
  const durably = openDurably(place)
  try {
    return await use(durably, place)
  } finally {
    await durably[Symbol.asyncDispose]()
  }
}
