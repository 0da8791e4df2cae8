import { AS_OPTION, actorOf } from '../actor.ts'
import type { Command } from '../command.ts'
import { withDurably } from '../open.ts'
import { readValue } from '../read-value.ts'

export const signal: Command = {
  name: 'signal',
  summary: 'send a value to a run that waits for it, now or later',
  args: [
    { name: 'id', what: 'the id of the run' },
    { name: 'name', what: 'the name of the signal' },
    { name: 'value', what: 'the value: JSON, @file.json, or - for standard input; null by default', optional: true },
  ],
  options: {
    'idempotency-key': { value: 'text', what: 'a second signal with this key changes nothing and is not an error' },
    ...AS_OPTION,
  },
  examples: [`durably signal 01JCZX3P0V6S6V7M3YB8Q8Y3GT approval '{"ok":true}'`],
  run: (given, io) =>
    withDurably(given, io, async (durably) => {
      const [id, name] = [given.arg('id'), given.arg('name')]
      const value = await readValue('<value>', given.args('value')[0] ?? 'null', io)
      const idempotencyKey = given.text('idempotency-key')
      await durably.signal(id, name, value, { ...(idempotencyKey !== undefined && { idempotencyKey }), ...actorOf(given, io) })
      io.out(given.has('json') ? JSON.stringify({ id, name }) : `signal ${name} was sent to ${id}`)
      return undefined
    }),
}
