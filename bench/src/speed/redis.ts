// A Redis of our own, where the machine has the program.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

export interface RedisServer {
  port: number
  /** Forgets everything in it. */
  empty(): Promise<void>
  stop(): Promise<void>
}

export async function startRedis(directory: string): Promise<RedisServer> {
  const port = await freePort()
  const settings = ['--port', `${port}`, '--dir', directory, '--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '']
  const child = spawn(process.env.REDIS_SERVER ?? 'redis-server', settings, { stdio: ['ignore', 'pipe', 'ignore'] })
  await new Promise<void>((resolve, reject) => {
    child.once('error', () => reject(new Error('needs a Redis: redis-server was not found; REDIS_SERVER may name it')))
    child.stdout.on('data', (text: Buffer) => void (text.includes('Ready to accept connections') && resolve()))
    child.once('exit', () => reject(new Error('redis-server did not start')))
  })
  return {
    port,
    empty: () => command(port, 'FLUSHALL'),
    async stop() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}

async function command(port: number, text: string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.end(`${text}\r\n`)
  socket.resume()
  await once(socket, 'close')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
