// One key, one deed, on a terminal.
import { emitKeypressEvents } from 'node:readline'
import type { Io } from '../output/io.ts'
import { paint } from '../output/paint.ts'
import type { DevSession } from './session.ts'

const HOUR_MS = 3_600_000
const HELP = 'k kill the worker · p pause · h +1 hour · s slow database · q quit'

/** Returns a function that gives the terminal back. */
export function listenToKeys(session: DevSession, io: Io, quit: () => void): () => void {
  const { stdin } = process
  if (!stdin.isTTY) return () => {}
  emitKeypressEvents(stdin)
  stdin.setRawMode(true)
  const say = (text: string) => io.out(paint(io, 'yellow', text))
  const listener = (_: unknown, { name, ctrl }: { name?: string; ctrl?: boolean }) => {
    if (name === 'q' || (ctrl && name === 'c')) return quit()
    Promise.resolve(DEEDS[name ?? '']?.(session, say)).catch((error: unknown) => say(String(error)))
  }
  stdin.on('keypress', listener)
  io.out(paint(io, 'dim', HELP))
  return () => {
    stdin.off('keypress', listener)
    stdin.setRawMode(false)
    stdin.pause()
  }
}

type Deed = (session: DevSession, say: (text: string) => void) => void | Promise<void>

const DEEDS: Readonly<Record<string, Deed>> = {
  k(session, say) {
    const pid = session.kill()
    say(pid === null ? 'no worker is there at the moment' : `worker ${pid} killed with SIGKILL`)
  },
  p(session, say) {
    const isPaused = !session.state.isPaused
    session.pause(isPaused)
    say(isPaused ? 'paused: runs are given back, none is started; p goes on' : 'going on')
  },
  async h(session, say) {
    await session.advance(HOUR_MS)
    say(`the clock shows ${session.state.now}`)
  },
  s(session, say) {
    const isSlow = !session.state.isSlow
    session.slow(isSlow)
    say(isSlow ? 'the database is slow now; s makes it fast again' : 'the database is fast again')
  },
}
