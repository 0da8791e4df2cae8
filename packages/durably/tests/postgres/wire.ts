import pg from 'pg'

export interface Wire {
  pool: pg.Pool
  /** How often the server was asked and answered while `act` was under way. */
  roundTrips(act: () => Promise<unknown>): Promise<number>
}

/** A pool whose connections are listened to: the server ends every answer with `ReadyForQuery`. */
export function wireTo(url: string, config: pg.PoolConfig = {}): Wire {
  let answers = 0
  const pool = new pg.Pool({ connectionString: url, max: 1, ...config })
  // Dropping its database may cut a connection that is just ending.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    const connection = Reflect.get(client, 'connection') as NodeJS.EventEmitter
    connection.on('readyForQuery', () => {
      answers += 1
    })
  })
  return {
    pool,
    async roundTrips(act) {
      const before = answers
      await act()
      return answers - before
    },
  }
}
